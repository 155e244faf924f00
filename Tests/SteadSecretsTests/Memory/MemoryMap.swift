import Foundation
import SteadFiles

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
