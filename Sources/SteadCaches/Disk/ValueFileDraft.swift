import CSteadFiles
import Foundation
import SteadFiles

/// A large value's file while it is being written, under a name that no entry has.
///
/// Its writer holds a lock on it. A file of such a name that can be locked was left by a writer that is gone.
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

  /// Makes an empty file in the cache's directory.
  init(in directory: CacheDirectory) throws {
    disk = directory.disk
    path = directory.path(ofValue: Self.prefix + String(UInt64.random(in: 0 ... .max), radix: 16))
    descriptor = try disk.open(path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
    do {
      // A sweep can find the file between its creation and its locking, and then removes it.
      guard try disk.lock(descriptor, wait: false, path: path), try disk.status(at: path) != nil
      else {
        throw FileError(
          code: .busy, message: "The new value's file was swept away; try again.", path: path)
      }
      try write(ValueFile.beginning)
    } catch {
      cancel()
      throw error
    }
  }

  /// Removes what a writer that is gone has left, and returns whether it was gone.
  static func sweep(_ path: String, disk: any Disk) {
    try? disk.withDescriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) { descriptor in
      if try disk.lock(descriptor, wait: false, path: path) { try disk.remove(path) }
    }
  }

  mutating func append(_ data: Data) throws {
    length += data.count
    var rest = data[...]
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
    while !rest.isEmpty {
      let count = try disk.write(
        descriptor, from: UnsafeRawBufferPointer(rebasing: rest), path: path)
      rest = rest.dropFirst(count)
    }
  }
}
