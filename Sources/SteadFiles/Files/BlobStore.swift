import Foundation
import SteadEncoding

/// Stores large values as separate files, each named by the SHA-256 of its contents.
///
/// ```swift
/// let blobs = BlobStore(directory: storeURL.appendingPathExtension("blobs"))
/// let reference = try blobs.write(photo)     // keep the reference with the other fields
/// let photo = try blobs.read(reference)
/// ```
///
/// Equal values share one file. A reference is a bare name, so the directory may be moved together with
/// whatever holds the references. A blob never changes; ``sweep(keeping:olderThan:)`` removes those that
/// nothing refers to any more.
///
/// Anybody may have made the directory. What has a blob's name and isn't a file counts as a damaged blob: a symbolic link
/// is never followed, and a write replaces the link itself. A directory of that name stays, and the write throws. The
/// blobs' directory may be a link.
///
/// A value is read, written and hashed as a whole, so it costs its size in memory and about 1 ms a megabyte
/// where the processor has SHA-256 instructions, otherwise 5 ms; a write also costs two syncs of the disk.
/// Values below some 100 KB are better kept in a database.
public struct BlobStore: Sendable {
  /// The directory that contains the blobs.
  public let directory: URL
  private let disk: any Disk

  /// A store in a directory, which the first write creates if it is missing.
  public init(directory: URL) {
    self.init(directory: directory, disk: POSIXDisk())
  }

  init(directory: URL, disk: any Disk) {
    self.directory = directory
    self.disk = disk
  }

  /// Stores a value and returns its reference: 64 hexadecimal digits.
  ///
  /// When it returns, the blob is complete and as durable as `durability` says. When it throws, existing
  /// blobs are unharmed.
  ///
  /// - Throws: ``FileError``, such as `.noSpace` or `.denied`.
  public func write(_ data: Data, durability: AtomicFile.Durability = .full) throws -> String {
    let reference = SHA256.hexadecimal(data)
    let path = try path(of: reference)
    // The date is refreshed even if nothing is written: to a sweep the blob is as new as its newest reference.
    if try holds(data, at: path), try refreshDate(path) {
      try makeDurable(path, durability)
      return reference
    }
    try disk.makeDirectories(directory.checkedPath)
    var file = AtomicFile(URL(filePath: path), disk: disk)
    // A link of that name would otherwise choose where the bytes go; see above.
    file.replacesName = true
    try file.replace(with: data, durability: durability)
    return reference
  }

  /// Returns the value of a reference, after checking that it is what was written.
  ///
  /// - Throws: ``FileError``: `.notFound` when it does not exist, `.damaged` when its bytes are not what was
  ///   written, `.invalidName` when the string is not a reference.
  public func read(_ reference: String) throws -> Data {
    let path = try path(of: reference)
    let damage = FileError(
      code: .damaged, message: "The blob is damaged: its bytes are not what was written.",
      path: path)
    do {
      let data = try contents(of: path)
      // The name is the digest, so damage and tampering are both found by this.
      guard SHA256.hexadecimal(data) == reference else { throw damage }
      return data
    } catch {
      // No blob was ever written as a link, a pipe or a directory.
      if let found = try disk.status(at: path), found.kind != .file { throw damage }
      throw error
    }
  }

  /// Whether a reference's blob exists; its contents are not checked.
  ///
  /// - Throws: ``FileError``: `.invalidName` when the string is not a reference.
  public func contains(_ reference: String) throws -> Bool {
    try disk.status(at: path(of: reference))?.kind == .file
  }

  /// Removes one blob, if it exists.
  ///
  /// Every other reference to an equal value loses it, too: with several references, sweep instead.
  ///
  /// - Throws: ``FileError``: `.invalidName` when the string is not a reference.
  public func remove(_ reference: String) throws {
    let path = try path(of: reference)
    do {
      try disk.remove(path)
    } catch {
      let found = try disk.status(at: path)
      // A directory isn't a blob, and what is in it is somebody's.
      guard found == nil || found?.kind == .directory else { throw error }
    }
  }

  /// The references of all existing blobs.
  ///
  /// - Throws: ``FileError`` when the directory cannot be listed.
  public func references() throws -> Set<String> {
    Set(try names().filter(Self.isReference))
  }

  /// Removes the blobs that nothing refers to, and what dead writers left.
  ///
  /// A blob that is written after `references` were gathered is not among them. So either no write may happen
  /// in between, or `age` must be longer than the time between writing a blob and recording its reference: a
  /// blob that was written, or written again, less than `age` ago stays. Costs a listing of the directory;
  /// files that are not blobs are left alone.
  ///
  /// - Parameters:
  ///   - references: The references still in use.
  ///   - age: The minimum age, in seconds, of a blob to be removed.
  /// - Returns: The number of blobs removed.
  /// - Throws: ``FileError`` when the directory cannot be listed or a blob cannot be removed.
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
  /// As ``read(_:)``, by mapping the file: pages take memory once they are read. Costs hashing all of it.
  package func map(_ reference: String) throws -> Data {
    // Whatever keeps it from being mapped: `read` throws the error that says so, or reads an empty one.
    guard let data = try? mapping(of: path(of: reference)), SHA256.hexadecimal(data) == reference
    else { return try read(reference) }
    return data
  }

  /// Whether ``sweep(keeping:olderThan:)`` might remove something: a blob that nothing refers to, or a
  /// temporary file of a writer that is dead or still at work. Costs a listing of the directory, and one call of
  /// the system for each name that nothing refers to.
  package func hasLeftovers(keeping references: Set<String>) throws -> Bool {
    try names().contains { name in
      if TemporaryFile.isName(name) { return true }
      return try Self.isReference(name) && !references.contains(name) && isRemovable(name)
    }
  }

  /// Whether the file of a reference exists, and isn't a directory, which no sweep removes. Costs one call of the system.
  package func isRemovable(_ reference: String) throws -> Bool {
    let found = try disk.status(at: path(of: reference))
    return found != nil && found?.kind != .directory
  }

  /// A reference comes from a database that may be damaged or forged; only a bare digest may become part of a path.
  private static func isReference(_ text: String) -> Bool {
    text.utf8.count == 2 * SHA256.byteCount
      && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }

  private func path(of reference: String) throws -> String {
    guard Self.isReference(reference) else {
      // Not the text: it is a stored value if another program has put that in the reference's place.
      throw FileError(
        code: .invalidName,
        message: "This isn't a reference to a blob, which has 64 hexadecimal digits. "
          + "Use one that a write returned.",
        path: try directory.checkedPath)
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

  /// Whether the same bytes are already stored; a damaged blob is not the same, and is written again.
  private func holds(_ data: Data, at path: String) throws -> Bool {
    // The size first: a blob of another size needs no reading.
    guard let found = try disk.status(at: path), found.kind == .file, found.size == data.count
    else { return false }
    return try contents(of: path) == data
  }

  /// A file's bytes. A link is not followed: whoever made the directory may have put it there, to have another file read.
  private func contents(of path: String) throws -> Data {
    try disk.withDescriptor(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW) {
      try disk.contents(of: $0, limit: AtomicFile.sizeLimit, path: path)
    }
  }

  /// A file's bytes, mapped; nil for what isn't a file with bytes, and if the system doesn't map it.
  ///
  /// As in ``contents(of:)`` no link is followed: one may take the blob's place between a look at the path and the
  /// opening.
  private func mapping(of path: String) throws -> Data? {
    try disk.withDescriptor(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW) { descriptor -> Data? in
      let found = try disk.status(descriptor, path: path)
      guard found.kind == .file, let size = Int(exactly: found.size), size > 0,
        let base = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), base != MAP_FAILED
      else { return nil }
      return Data(bytesNoCopy: base, count: size, deallocator: .custom { munmap($0, $1) })
    }
  }

  /// Sets a blob's date to now, so that a sweep counts it as new, and returns whether the blob still existed.
  ///
  /// A sweep checks a blob's age and removes it under the same lock, so it cannot remove as forgotten a blob
  /// that a writer has just found.
  private func refreshDate(_ path: String) throws -> Bool {
    try disk.withLockedDirectory(path.directoryPath) { _ in
      guard try disk.status(at: path)?.kind == .file else { return false }
      try disk.touch(path)
      return true
    }
  }

  /// Removes a blob that was last written or used before a time. The check and the removal are under the lock that
  /// ``refreshDate(_:)`` takes.
  private func remove(_ path: String, ifOlderThan age: TimeInterval) throws -> Bool {
    let newest = Date(timeIntervalSinceNow: -age)
    return try disk.withLockedDirectory(path.directoryPath) { _ in
      // With an age of 0 the date doesn't matter: it may lie in the future, after the clock was set back.
      guard let found = try disk.status(at: path), found.kind != .directory,
        age <= 0 || found.modified < newest
      else { return false }
      try disk.remove(path)
      return true
    }
  }

  /// The existing blob may have been written with less durability than is now requested.
  private func makeDurable(_ path: String, _ durability: AtomicFile.Durability) throws {
    if durability != .none {
      try disk.withDescriptor(path, O_RDONLY | O_NOFOLLOW) { try disk.sync($0, path: path) }
    }
    if durability == .full { try disk.syncDirectory(path.directoryPath) }
  }
}
