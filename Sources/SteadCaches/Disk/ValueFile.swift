import CSteadFiles
import Foundation
import SteadFiles
import SteadSQLite

// Sendable: the descriptor is a constant, and is only read from, at offsets that each call names.
/// A large value in a separate file, open for reading, so that it stays readable when it is
/// removed.
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
      // Without O_NONBLOCK, opening a FIFO of this name would wait for a writer; without O_NOFOLLOW,
      // a link of this name could lead to any file.
      descriptor = try disk.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, mode: 0)
    } catch let error as FileError where error.code == .notFound {
      return nil
    }
    // From here on an error ends the object, and closes the file.
    let status = try disk.status(descriptor, path: path)
    let start = try read(Self.beginning.count, at: 0)
    // The exact size: a file that was cut off is damage before any of its blocks is returned.
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
  /// - Parameter sum: The checksum of the bytes before it, which becomes that of the bytes up to
  ///   its end.
  /// - Throws: ``FileError`` `.damaged` if they differ from what was written.
  func block(_ number: Int, after sum: inout UInt32) throws -> Data {
    let count = min(Self.blockSize, length - number * Self.blockSize)
    // The checksum and the bytes in one system call.
    let all = try read(Self.sumSize + count, at: offset(of: number))
    guard all.count == Self.sumSize + count else { throw damage }
    sum = all.dropFirst(Self.sumSize).checksum(after: sum)
    // The last sum must also be the row's: another value's whole file has right sums of its own.
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
    // Uninitialized memory, unlike that of `Data(count:)`: every byte of it is read over. `pread`
    // instead of `read`, since readers share the descriptor.
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
      // Fewer bytes than asked for: the callers compare the count.
      if result == 0 { break }
      done += result
    }
    return Data(bytesNoCopy: memory, count: done, deallocator: .free)
  }
}

// MARK: - Drafts

/// A large value's file while it is being written, under a name that no entry has.
///
/// Its writer holds a lock on it. A file of such a name that can be locked was left by a writer
/// that is gone.
struct ValueFileDraft {
  static let prefix = "new-"

  private let disk: any Disk
  private let descriptor: Int32
  private let forks = forkGeneration
  private(set) var path: String
  private(set) var length = 0
  /// The CRC-32C of all bytes so far.
  private(set) var sum: UInt32 = 0
  /// What waits to be a whole block.
  private var block = Data()

  /// How many files are made at most until sweeps leave one.
  private static let attemptLimit = 100

  /// Makes an empty file in the cache's directory.
  ///
  /// - Throws: ``FileError``, such as `.noSpace`; `.busy` if sweeps remove one file after another.
  init(in directory: CacheDirectory) throws {
    disk = directory.disk
    (path, descriptor) = try Self.makeFile(in: directory)
    do {
      try write(ValueFile.beginning)
    } catch {
      cancel()
      throw error
    }
  }

  /// Makes a file and locks it. A sweep can find it between the two, and then removes it: another one is made.
  private static func makeFile(
    in directory: CacheDirectory
  ) throws -> (path: String, descriptor: Int32) {
    let disk = directory.disk
    var path = ""
    for _ in 0..<attemptLimit {
      path = directory.path(ofValue: prefix + String(UInt64.random(in: 0 ... .max), radix: 16))
      let descriptor = try disk.open(path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
      do {
        if try disk.lock(descriptor, wait: false, path: path), try disk.status(at: path) != nil {
          return (path, descriptor)
        }
        disk.close(descriptor)
      } catch {
        try? disk.remove(path)
        disk.close(descriptor)
        throw error
      }
    }
    throw FileError(
      code: .busy,
      message: "Other processes have swept away each new value's file; try again.", path: path)
  }

  /// Removes a draft whose writer is gone.
  ///
  /// A writer that lives holds the draft's lock, and `flock` ends with the process.
  static func sweep(_ path: String, disk: any Disk) {
    try? disk.withDescriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) { descriptor in
      if try disk.lock(descriptor, wait: false, path: path) { try disk.remove(path) }
    }
  }

  /// Adds bytes of the value, and writes the blocks that are whole.
  ///
  /// - Throws: ``FileError``; the draft can then only be cancelled.
  mutating func append(_ data: Data) throws {
    length += data.count
    var rest = data[...]
    // A block is written once, since the checksum before its bytes covers all of them. Only what
    // doesn't fill one is copied and waits.
    if !block.isEmpty {
      let part = rest.prefix(ValueFile.blockSize - block.count)
      block.append(part)
      rest = rest.dropFirst(part.count)
      guard block.count == ValueFile.blockSize else { return }
      try write(block: block)
      block = Data()
    }
    while rest.count >= ValueFile.blockSize {
      try write(block: rest.prefix(ValueFile.blockSize))
      rest = rest.dropFirst(ValueFile.blockSize)
    }
    block = Data(rest)
  }

  /// Writes the buffered bytes.
  mutating func finish() throws {
    if !block.isEmpty { try write(block: block) }
    block = Data()
  }

  /// Renames the file to an entry's name.
  ///
  /// A file of that name can't be a row's: names have the entry's new id. It would be replaced.
  mutating func move(to newPath: String) throws {
    try disk.rename(path, to: newPath)
    path = newPath
  }

  /// Ends the work and leaves the file where it is.
  func close() {
    // In the child of a fork the lock is the parent's.
    if forks == forkGeneration { disk.unlock(descriptor) }
    disk.close(descriptor)
  }

  /// Ends the work and removes the file.
  func cancel() {
    // In the child of a fork the parent may still be writing the file.
    if forks == forkGeneration { try? disk.remove(path) }
    close()
  }

  private mutating func write(block: Data) throws {
    sum = block.checksum(after: sum)
    try withUnsafeBytes(of: sum.littleEndian) { try write($0) }
    try block.withUnsafeBytes { try write($0) }
  }

  private func write(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try write($0) } }

  private func write(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = bytes[...]
    // A write may take fewer bytes than it is given, as on a disk that is nearly full.
    while !rest.isEmpty {
      let count = try disk.write(
        descriptor, from: UnsafeRawBufferPointer(rebasing: rest), path: path)
      rest = rest.dropFirst(count)
    }
  }
}

// MARK: - Sweeping

extension CacheDatabase {
  /// Removes files of values that no entry has, and drafts whose writers are gone.
  ///
  /// Runs in a transaction, while no other process can give a file to an entry. Costs a listing of
  /// the files.
  func sweep(_ transaction: CacheTransaction, _ open: OpenDatabase) throws {
    for name in try directory.disk.names(in: directory.values) {
      if name.hasPrefix(ValueFileDraft.prefix) {
        ValueFileDraft.sweep(directory.path(ofValue: name), disk: directory.disk)
      } else if try !isOfAnEntry(name, transaction, open) {
        removeFile(name)
      }
    }
  }

  private func isOfAnEntry(
    _ name: String, _ transaction: CacheTransaction, _ open: OpenDatabase
  ) throws -> Bool {
    // The whole name is compared, and so the generation: the files of a database that was replaced
    // belong to no row, though a row may have their number.
    guard let digits = name.split(separator: "-").last, let id = Int64(digits),
      open.name(ofValue: id) == name
    else { return false }
    let found = try transaction.connection.integer(
      "SELECT id FROM contents WHERE id = ?", [.integer(id)])
    return found != nil
  }
}
