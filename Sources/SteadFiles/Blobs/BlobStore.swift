import Foundation

/// Large values as files of their own, each named by the SHA-256 of what is in it.
///
/// ```swift
/// let blobs = BlobStore(directory: storeURL.appendingPathExtension("blobs"))
/// let reference = try blobs.write(photo)     // keep the reference beside the other fields
/// let photo = try blobs.read(reference)
/// ```
///
/// Equal values are one file. A reference is a bare name, so the directory may be moved together with
/// whatever holds the references. A blob never changes; one that nothing refers to any more goes with
/// ``sweep(keeping:olderThan:)``.
///
/// A value is read and written at once and hashed each time, so it costs memory as large as it is and
/// some 1 ms a megabyte where the processor has instructions for SHA-256, and else 5; a write costs two
/// syncs of the disk besides. Values below some 100 KB are better kept in a database.
public struct BlobStore: Sendable {
  /// The directory that the blobs are in.
  public let directory: URL
  private let disk: any Disk

  /// The store in a directory, which the first write makes where it is missing.
  public init(directory: URL) {
    self.init(directory: directory, disk: POSIXDisk())
  }

  init(directory: URL, disk: any Disk) {
    self.directory = directory
    self.disk = disk
  }

  /// Keeps a value and returns the reference to it: 64 hexadecimal digits.
  ///
  /// When it returns, the blob is there whole, and stays as `durability` says. When it throws, no
  /// blob that was there before is harmed.
  ///
  /// - Throws: ``FileError``, such as `.noSpace` or `.denied`.
  public func write(_ data: Data, durability: AtomicFile.Durability = .full) throws -> String {
    let reference = SHA256.hexadecimal(data)
    let path = try path(of: reference)
    if try holds(data, at: path), try renew(path) {
      try makeDurable(path, durability)
      return reference
    }
    try disk.makeDirectories(directory.checkedPath)
    try AtomicFile(URL(filePath: path), disk: disk).replace(with: data, durability: durability)
    return reference
  }

  /// The value that a reference stands for, checked to be the one that was written.
  ///
  /// - Throws: ``FileError``: `.notFound` when it is not there, `.damaged` when its bytes are not what
  ///   was written, `.invalidName` when the text is not a reference.
  public func read(_ reference: String) throws -> Data {
    let path = try path(of: reference)
    let data = try disk.contents(of: path, limit: AtomicFile.sizeLimit)
    guard SHA256.hexadecimal(data) == reference else {
      throw FileError(
        code: .damaged, message: "The blob is not what was written.", path: path)
    }
    return data
  }

  /// Whether there is a blob for a reference; its contents are not looked at.
  ///
  /// - Throws: ``FileError``: `.invalidName` when the text is not a reference.
  public func contains(_ reference: String) throws -> Bool {
    try disk.status(at: path(of: reference))?.kind == .file
  }

  /// Removes one blob, if it is there.
  ///
  /// Whoever else refers to an equal value loses it, too: with several references, sweep instead.
  ///
  /// - Throws: ``FileError``: `.invalidName` when the text is not a reference.
  public func remove(_ reference: String) throws {
    do {
      try disk.remove(path(of: reference))
    } catch let error as FileError where error.code == .notFound {
      return
    }
  }

  /// The references of all blobs that are there.
  ///
  /// - Throws: ``FileError`` when the directory cannot be listed.
  public func references() throws -> Set<String> {
    Set(try names().filter(Self.isReference))
  }

  /// Removes the blobs that nothing refers to, and what writers that died have left.
  ///
  /// A blob that is written after `references` were gathered is not among them. Either no write may
  /// come between, or `age` must be longer than it takes from writing a blob to recording its
  /// reference: a blob that was written, or written again, less than `age` ago stays. Costs a listing
  /// of the directory; files that are not blobs are left alone.
  ///
  /// - Parameters:
  ///   - references: The references still in use.
  ///   - age: How old, in seconds, a blob must be to be removed.
  /// - Returns: How many blobs were removed.
  /// - Throws: ``FileError`` when the directory cannot be listed or a blob not be removed.
  @discardableResult
  public func sweep(
    keeping references: Set<String>, olderThan age: TimeInterval = 0
  ) throws -> Int {
    let directoryPath = try directory.checkedPath
    var removed = 0
    for name in try names() {
      let path = directoryPath + "/" + name
      if TemporaryFile.isName(name) {
        _ = try TemporaryFile.removeIfStale(path, on: disk)
      } else if Self.isReference(name), !references.contains(name) {
        if try remove(path, ifOlderThan: age) { removed += 1 }
      }
    }
    return removed
  }
}

extension BlobStore {
  /// Whether ``sweep(keeping:olderThan:)`` may find something to remove: a blob that nothing refers to,
  /// or what a writer has left that died, or is at work. Costs a listing of the directory.
  package func hasLeftovers(keeping references: Set<String>) throws -> Bool {
    try names().contains { name in
      TemporaryFile.isName(name) || Self.isReference(name) && !references.contains(name)
    }
  }

  /// A reference comes from a database that may be damaged or forged: only a bare digest may become
  /// part of a path.
  private static func isReference(_ text: String) -> Bool {
    text.utf8.count == 2 * SHA256.byteCount
      && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }

  private func path(of reference: String) throws -> String {
    guard Self.isReference(reference) else {
      throw FileError(
        code: .invalidName, message: "This is not a reference to a blob.", path: reference)
    }
    return try directory.checkedPath + "/" + reference
  }

  private func names() throws -> [String] {
    do {
      return try disk.names(in: directory.checkedPath)
    } catch let error as FileError where error.code == .notFound {
      return []
    }
  }

  /// Whether the very bytes are there already; a damaged blob is not, and is written anew.
  private func holds(_ data: Data, at path: String) throws -> Bool {
    guard let found = try disk.status(at: path), found.kind == .file, found.size == data.count
    else { return false }
    return try disk.contents(of: path, limit: AtomicFile.sizeLimit) == data
  }

  /// Makes a blob count as written now, and says whether it was still there.
  ///
  /// A sweep looks at a blob's age and removes it under the same lock, so that it does not take for
  /// forgotten what a writer has just found to be there.
  private func renew(_ path: String) throws -> Bool {
    try disk.withLockedDirectory(path.directoryPath) { _ in
      guard try disk.status(at: path) != nil else { return false }
      try disk.touch(path)
      return true
    }
  }

  private func remove(_ path: String, ifOlderThan age: TimeInterval) throws -> Bool {
    let newest = Date(timeIntervalSinceNow: -age)
    return try disk.withLockedDirectory(path.directoryPath) { _ in
      guard let found = try disk.status(at: path), age <= 0 || found.modified < newest else {
        return false
      }
      try disk.remove(path)
      return true
    }
  }

  /// The blob that is there may have been written with less durability than is asked for now.
  private func makeDurable(_ path: String, _ durability: AtomicFile.Durability) throws {
    if durability != .none {
      try disk.withDescriptor(path, O_RDONLY) { try disk.sync($0, path: path) }
    }
    if durability == .full { try disk.syncDirectory(path.directoryPath) }
  }
}
