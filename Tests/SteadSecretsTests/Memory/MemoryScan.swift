import Foundation
import SteadFiles

/// Looks through all memory of this process for pieces of a secret.
///
/// The secret that it looks for, and what it reads, are in pages of its own, which it leaves out.
final class MemoryScan {
  /// As long as a piece has to be to be told from chance.
  static let pieceSize = 16
  private static let bufferSize = 1 << 20

  let size: Int
  private let pages: UnsafeMutableRawPointer
  private let pageCount: Int
  private let memory: Int32

  /// A scan for `size` random bytes, a multiple of the size of a piece.
  init(size: Int) throws {
    self.size = size
    pageCount = Self.bufferSize + 4096 * ((size + 4095) / 4096)
    let made = mmap(nil, pageCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let made, made != MAP_FAILED else { throw CocoaError(.fileReadUnknown) }
    pages = made
    memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
    guard memory >= 0 else { throw CocoaError(.fileReadNoPermission) }
    var random = SystemRandomNumberGenerator()
    for index in 0..<size { secret[index] = UInt8.random(in: 0...255, using: &random) }
  }

  deinit {
    close(memory)
    munmap(pages, pageCount)
  }

  /// The secret, where the scan does not look.
  var secret: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: pages + Self.bufferSize, count: size)
  }

  /// Copies the last piece of the secret.
  func copyPiece(to place: UnsafeMutableRawPointer) {
    place.copyMemory(
      from: pages + Self.bufferSize + size - Self.pieceSize, byteCount: Self.pieceSize)
  }

  /// The names of the regions in which pieces of the secret were found.
  func findings() throws -> [String] {
    var result: [String] = []
    let own = UInt(bitPattern: pages)
    for region in try MemoryMap.regions() where region.isReadable && region.name != "[vvar]" {
      var position = region.start
      while position < region.end {
        // What is beside the scan's own pages may be one region with them.
        if position >= own, position < own + UInt(pageCount) {
          position = own + UInt(pageCount)
          continue
        }
        let end = min(region.end, position < own ? own : region.end)
        let count = min(Self.bufferSize, Int(end - position))
        let read = pread(memory, pages, count, off_t(position))
        // Memory that has gone meanwhile, or that only devices may read.
        guard read > 0 else { break }
        if contains(read) { result.append(region.name.isEmpty ? "anonymous" : region.name) }
        let next = position + UInt(read)
        // A piece may lie across the end of what was read.
        // Where little was read, since the rest went away meanwhile, to go back would be no progress.
        position = next < end && read >= Self.pieceSize ? next - UInt(Self.pieceSize - 1) : next
      }
    }
    return result
  }

  /// Pieces from the later parts, since the heap writes over the beginning of what is freed.
  private func contains(_ count: Int) -> Bool {
    [size / 3, size * 2 / 3, size - Self.pieceSize].contains { offset in
      Self.find?(pages, count, pages + Self.bufferSize + offset, Self.pieceSize) != nil
    }
  }

  private typealias Find =
    @convention(c) (UnsafeRawPointer, Int, UnsafeRawPointer, Int) -> UnsafeRawPointer?

  // The C library has it, and its module for Swift leaves it out.
  private static let find = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "memmem").map {
    unsafeBitCast($0, to: Find.self)
  }
}

// MARK: - Regions

/// What the kernel tells of this process's memory.
enum MemoryMap {
  struct Region {
    var start: UInt
    var end: UInt
    var isReadable: Bool
    var name: String
  }

  /// All that is mapped now.
  static func regions() throws -> [Region] {
    try text(of: "maps").split(separator: "\n").compactMap { region(of: $0) }
  }

  /// The kernel's letters for what was asked of the memory at an address, from `smaps`.
  static func flags(at address: UInt) -> Set<String>? {
    guard let text = try? text(of: "smaps") else { return nil }
    var isThere = false
    for line in text.split(separator: "\n") {
      if let region = region(of: line) {
        isThere = (region.start..<region.end).contains(address)
      } else if isThere, line.hasPrefix("VmFlags:") {
        return Set(line.split(separator: " ").dropFirst().map(String.init))
      }
    }
    return nil
  }

  /// Foundation reads no more than the first page of a file that the kernel makes up.
  private static func text(of name: String) throws -> String {
    String(decoding: try AtomicFile(URL(filePath: "/proc/self/\(name)")).read(), as: UTF8.self)
  }

  private static func region(of line: Substring) -> Region? {
    let parts = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
    guard parts.count >= 5, let dash = parts[0].firstIndex(of: "-"),
      let start = UInt(parts[0][..<dash], radix: 16),
      let end = UInt(parts[0][parts[0].index(after: dash)...], radix: 16)
    else { return nil }
    return Region(
      start: start, end: end, isReadable: parts[1].hasPrefix("r"),
      name: parts.count > 5 ? String(parts[5]) : "")
  }
}
