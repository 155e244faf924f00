import CSteadFiles
import Foundation
import SteadFiles

// Sendable: the descriptor is a constant, and is only read from, at offsets that each call names.
/// A large value in a separate file, open for reading, so that it stays readable when it is removed.
///
/// ```
/// offset   size      meaning
/// 0        8         "SteadDC" and the version, 1
/// 8        4         CRC-32C of the value's bytes up to the end of this block, the least significant byte first
/// 12       65,536    the value's bytes; fewer in the last block
///                    … the next block
/// ```
final class ValueFile: Sendable {
  static let beginning = Array("SteadDC".utf8) + [1]
  /// How many bytes of the value a block has.
  static let blockSize = 65_536
  static let sumSize = 4

  /// The value's bytes.
  let length: Int
  private let body: UInt32
  private let path: String
  private let disk: any Disk
  private let descriptor: Int32

  /// Opens the file of an entry; nil when it is gone.
  ///
  /// - Throws: ``FileError`` when it can't be opened, or is not a value of this version and length.
  init?(_ path: String, length: Int, body: UInt32, disk: any Disk) throws {
    (self.path, self.length, self.body, self.disk) = (path, length, body, disk)
    do {
      descriptor = try disk.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, mode: 0)
    } catch let error as FileError where error.code == .notFound {
      return nil
    }
    // From here on an error ends the object, and closes the file.
    let status = try disk.status(descriptor, path: path)
    let start = try read(Self.beginning.count, at: 0)
    guard status.kind == .file, status.size == Int64(Self.size(of: length)),
      start.elementsEqual(Self.beginning)
    else { throw damage }
  }

  deinit { disk.close(descriptor) }

  /// How large the file of a value is.
  static func size(of length: Int) -> Int {
    beginning.count + length + blockCount(of: length) * sumSize
  }

  private static func blockCount(of length: Int) -> Int { (length + blockSize - 1) / blockSize }

  var blockCount: Int { Self.blockCount(of: length) }

  /// The value's bytes in a block, compared with the block's checksum.
  ///
  /// - Parameter sum: The checksum of the bytes before it, which becomes that of the bytes up to its end.
  /// - Throws: ``FileError`` `.damaged` if they differ from what was written.
  func block(_ number: Int, after sum: inout UInt32) throws -> Data {
    let count = min(Self.blockSize, length - number * Self.blockSize)
    let all = try read(Self.sumSize + count, at: offset(of: number))
    guard all.count == Self.sumSize + count else { throw damage }
    sum = all.dropFirst(Self.sumSize).checksum(after: sum)
    guard sum == Self.sum(in: all), number < blockCount - 1 || sum == body else { throw damage }
    // A copy, whose indexes begin at 0 as everywhere.
    return Data(all.dropFirst(Self.sumSize))
  }

  /// The checksum of all bytes before a block, as the block before it has it.
  func sum(before number: Int) throws -> UInt32 {
    number == 0 ? 0 : Self.sum(in: try read(Self.sumSize, at: offset(of: number - 1)))
  }

  /// All of the value.
  func contents() throws -> Data {
    var data = Data(capacity: length)
    var sum: UInt32 = 0
    for number in 0..<blockCount { data.append(try block(number, after: &sum)) }
    return data
  }

  private func offset(of block: Int) -> Int {
    Self.beginning.count + block * (Self.sumSize + Self.blockSize)
  }

  private static func sum(in bytes: Data) -> UInt32 {
    bytes.prefix(sumSize).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  private var damage: FileError {
    FileError(
      code: .damaged, message: "The cached value differs from what was written; load it again.",
      path: path
    )
  }

  private func read(_ count: Int, at offset: Int) throws -> Data {
    guard let memory = malloc(max(1, count)) else {
      throw FileError(errno: ENOMEM, doing: "read it", path: path)
    }
    var done = 0
    while done < count {
      let result = pread(descriptor, memory + done, count - done, off_t(offset + done))
      if result < 0, errno == EINTR { continue }
      if result < 0 {
        let number = errno
        free(memory)
        throw FileError(errno: number, doing: "read it", path: path)
      }
      if result == 0 { break }
      done += result
    }
    return Data(bytesNoCopy: memory, count: done, deallocator: .free)
  }
}
