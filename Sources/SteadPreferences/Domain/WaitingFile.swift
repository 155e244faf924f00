import Foundation
import SteadFiles

/// The file `D.waiting`: edits that could not be written to the journal, mostly since a stopped
/// process has it locked.
///
/// The next process that gets the journal's lock writes them there and removes the file. So a
/// program may set a value and end while the journal cannot be written. All processes share the
/// file; Documentation/PreferencesFile.md draws it.
///
/// Writers hold its lock if they get it. A process may be stopped while it has that lock, too, and
/// some file systems have none. So everything works without it, by the order of the steps: an edit
/// is appended by one call with `O_APPEND`, and checked afterwards; a merge reads the file once
/// more after it has removed the name.
struct WaitingFile {
  /// The maximum size of the file in bytes. Later edits stay in memory alone.
  static let byteLimit = 16 << 20
  /// How long to wait for another process that adds to the file, which takes microseconds.
  static let lockWait = Duration.milliseconds(10)

  let path: String
  private let disk = POSIXDisk()
  /// The file whose lock was last waited for in vain. Its holder counts as stopped, and is not
  /// waited for again.
  private var stuck: FileStatus.Identity?

  init(_ url: URL) { path = url.path(percentEncoded: false) }

  /// What the file has.
  struct Contents {
    /// A random number that distinguishes the file from earlier and later ones of the name.
    var id: UInt64
    var edits: [DomainEdit] = []
    /// Where the journal's record with these edits was about to be appended; nil before that.
    var position: Journal.Place?
    /// Where the whole records end.
    fileprivate var end = WaitingFile.headerByteCount
  }

  /// Whether something has the name. A link counts, even a dangling one, so that it is quarantined.
  var isPresent: Bool { (try? disk.status(at: path)) != nil }

  /// The contents as of now; nil when there is no file, or one without a whole header.
  func read() throws -> Contents? {
    do {
      return try disk.withDescriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) { descriptor in
        try contents(of: descriptor)
      }
    } catch let error as FileError where error.code == .notFound {
      return nil
    }
  }

  /// Appends edits, which then survive the end of this process, and returns the file's ID.
  ///
  /// Invariant: when this returns, the record is among the whole ones of the file that has the
  /// name. Any other process may remove, replace or cut the file at any moment, so that is checked
  /// after the write, and otherwise the edits are appended again. An edit that is written twice was
  /// set while the others were at work, so both orders are right.
  ///
  /// - Throws: ``FileError`` when the file cannot be written, or is full.
  mutating func append(_ edits: [DomainEdit]) throws -> UInt64 {
    let record = try Self.record(of: edits)
    for _ in 0..<Self.attemptLimit {
      let descriptor = try open(O_RDWR | O_CREAT | O_APPEND)
      defer { disk.close(descriptor) }
      // Keeps writers apart while all goes well; nothing below relies on it.
      let isLocked = try lock(descriptor)
      defer { if isLocked { disk.unlock(descriptor) } }
      // Another process has merged and removed the file since it was opened.
      guard try isLinked(descriptor) else { continue }
      let (contents, byteCount) = try ownContents(of: descriptor)
      let end = contents?.end ?? 0
      if end < byteCount {
        // Half a record: a process was killed, or another one is writing without the lock. Only
        // with the lock is it certainly the former, and may be cut off.
        guard isLocked else { throw busy }
        guard ftruncate(descriptor, off_t(end)) == 0 else {
          throw FileError(errno: errno, doing: "write to the file", path: path)
        }
      }
      // An empty file gets its header with the first record, in one write.
      let added = contents == nil ? Self.header(.random(in: 1 ... .max)) + record : record
      guard end + added.count <= Self.byteLimit else {
        throw FileError(
          code: .tooLarge, message: "Too many values wait for the journal.", path: path)
      }
      try write(added, descriptor)
      // Where `O_APPEND` has put the record.
      let newEnd = Int(lseek(descriptor, 0, SEEK_CUR))
      // Without the lock, another process may have written the values to the journal and removed
      // the file, or cut off the record while it was half written, and added others there. What is
      // added twice has been set while the others were at work.
      if try isLinked(descriptor),
        let written = try writtenContents(of: descriptor, having: record, before: newEnd)
      {
        return written.id
      }
    }
    throw busy
  }

  /// Passes the contents to `body`, which writes them to the journal, and removes the file.
  ///
  /// Requires the journal's lock, so no two processes merge at once. `body` is not called when
  /// there is no file. If a stopped process has this file locked, the edits are written
  /// nevertheless.
  ///
  /// - Parameters:
  ///   - position: Where the journal's next record begins. It is stored in the file first, so that
  ///     after a kill the next process can tell whether that record exists.
  ///   - body: Appends one record to the journal. It is called again with what was added while the
  ///     file was removed.
  mutating func merge(at position: Journal.Place, _ body: (Contents) throws -> Void) throws {
    for _ in 0..<Self.attemptLimit {
      guard isPresent else { return }
      let descriptor = try open(O_RDWR)
      defer { disk.close(descriptor) }
      let isLocked = try lock(descriptor)
      defer { if isLocked { disk.unlock(descriptor) } }
      guard try isLinked(descriptor) else { continue }
      let contents = try ownContents(of: descriptor).contents
      if let contents {
        // First, so that a kill after the record finds it.
        var words = [position.salt.littleEndian, position.offset.littleEndian]
        guard lseek(descriptor, off_t(Self.positionOffset), SEEK_SET) >= 0 else {
          throw FileError(errno: errno, doing: "write to the file", path: path)
        }
        try write(Data(bytes: &words, count: 16), descriptor)
        try body(contents)
      }
      // A process that appends afterwards finds that the name is gone, and appends to a new file.
      try disk.remove(path)
      guard var rest = try ownContents(of: descriptor).contents else { return }
      // Another program may have cut the file meanwhile, and others may have appended since. What
      // both readings begin with is written.
      let writtenCount = zip(rest.edits, contents?.edits ?? []).prefix { $0 == $1 }.count
      rest.edits.removeFirst(writtenCount)
      // Its record is another one than that of the noted position.
      rest.position = nil
      guard !rest.edits.isEmpty else { return }
      do {
        // The name is gone, so these edits are in no file. If the journal refuses them, they are
        // saved again.
        return try body(rest)
      } catch {
        _ = try append(rest.edits)
        throw error
      }
    }
    throw busy
  }
}

extension WaitingFile {
  private static let attemptLimit = 100

  /// Opens the file without following a link, and without waiting for a pipe's other end.
  private func open(_ flags: Int32) throws -> Int32 {
    let descriptor = try disk.open(path, flags | O_NOFOLLOW | O_NONBLOCK, mode: 0o600)
    // A file that the superuser creates in a user's directory would lock the user out.
    if geteuid() == 0, let parent = try? disk.statusFollowingLinks(path.directoryPath),
      parent.user != 0
    {
      try? disk.setOwner(descriptor, user: parent.user, group: parent.group, path: path)
    }
    return descriptor
  }

  /// Locks the file; false where a stopped process has the lock, or the file system has no locks.
  private mutating func lock(_ descriptor: Int32) throws -> Bool {
    let identity = try disk.status(descriptor, path: path).identity
    var waited = Duration.zero
    do {
      while try !disk.lock(descriptor, wait: false, path: path) {
        guard identity != stuck, waited < Self.lockWait else {
          stuck = identity
          return false
        }
        waited += .milliseconds(1)
        // The system's own wait for a lock has no limit.
        usleep(1_000)
      }
    } catch let error as FileError where error.isUnsupported {
      return false
    }
    // The holder goes on, so it is waited for again the next time.
    if identity == stuck { stuck = nil }
    return true
  }

  /// Whether the name still leads to an open file.
  private func isLinked(_ descriptor: Int32) throws -> Bool {
    try disk.status(at: path)?.identity == disk.status(descriptor, path: path).identity
  }

  private var busy: FileError {
    FileError(code: .busy, message: "Other processes change the file; try again.", path: path)
  }

  private func contents(of descriptor: Int32) throws -> Contents? {
    let data = try disk.contents(of: descriptor, limit: Self.byteLimit, path: path)
    return try Self.contents(data)
  }

  /// The contents of a file that is about to be changed, and its length. No contents: it has no
  /// whole header.
  ///
  /// - Throws: ``FileError`` when it is not a waiting file, whose bytes must not be changed.
  private func ownContents(of descriptor: Int32) throws -> (contents: Contents?, byteCount: Int) {
    let data = try ownBytes(of: descriptor)
    return (try Self.contents(data), data.count)
  }

  /// The contents of a file to which a record was appended; nil unless the record is where it was
  /// put.
  private func writtenContents(
    of descriptor: Int32, having record: Data, before end: Int
  ) throws -> Contents? {
    let data = try ownBytes(of: descriptor)
    guard let contents = try Self.contents(data), contents.end >= end, end >= record.count,
      data[(end - record.count)..<end] == record
    else { return nil }
    return contents
  }

  private func ownBytes(of descriptor: Int32) throws -> Data {
    guard lseek(descriptor, 0, SEEK_SET) == 0 else {
      throw FileError(errno: errno, doing: "read it", path: path)
    }
    let data = try disk.contents(of: descriptor, limit: Self.byteLimit, path: path)
    guard Self.hasMagicPrefix(data) else {
      throw FileError(
        code: .notAFile,
        message: "Something else has the name \(path.fileName); move it away.", path: path)
    }
    return data
  }

  private func write(_ data: Data, _ descriptor: Int32) throws {
    try data.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let buffer = UnsafeRawBufferPointer(rebasing: rest)
        rest = rest.dropFirst(try disk.write(descriptor, from: buffer, path: path))
      }
    }
  }
}

// MARK: - The format

extension WaitingFile {
  /// "SteadWtg" as a little-endian number.
  private static let magic: UInt64 = 0x6774_5764_6165_7453
  static var magicBytes: Data { withUnsafeBytes(of: magic.littleEndian) { Data($0) } }
  private static let version: UInt64 = 1
  private static let positionOffset = 24
  private static let headerByteCount = 40
  /// The length and the checksum of a record's payload.
  private static let recordHeaderByteCount = 8

  private static func header(_ id: UInt64) -> Data {
    [magic, version, id, 0, 0].map(\.littleEndian).withUnsafeBytes { Data($0) }
  }

  private static func record(of edits: [DomainEdit]) throws -> Data {
    let count = try DomainRecord.byteCount(edits)
    var record = Data(count: recordHeaderByteCount + count)
    record.withUnsafeMutableBytes { bytes in
      let payload = UnsafeMutableRawBufferPointer(rebasing: bytes[recordHeaderByteCount...])
      DomainRecord.encode(edits, into: payload)
      let checksum = UnsafeRawBufferPointer(payload).checksum
      bytes.storeBytes(of: UInt32(count).littleEndian, as: UInt32.self)
      bytes.storeBytes(of: checksum.littleEndian, toByteOffset: 4, as: UInt32.self)
    }
    return record
  }

  /// Decodes a file; nil for one without a whole header, which a process that was killed has left.
  ///
  /// Ends with the first record that is not whole: what is behind it cannot be found. Its writer
  /// either was killed before its call returned, or appends it again.
  ///
  /// - Throws: ``PreferencesError`` `.newerVersion`, and what decoding a whole record throws.
  private static func contents(_ data: Data) throws -> Contents? {
    try data.withUnsafeBytes { bytes -> Contents? in
      func word(_ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      }
      func half(_ offset: Int) -> UInt32 {
        UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
      }
      guard bytes.count >= headerByteCount, word(0) == magic, word(16) != 0 else { return nil }
      guard word(8) == version else {
        throw PreferencesError(
          code: .newerVersion,
          message: "A newer version of this library keeps values in a waiting file; update.")
      }
      var contents = Contents(id: word(16))
      if word(positionOffset) != 0 {
        contents.position = Journal.Place(
          salt: word(positionOffset), offset: word(positionOffset + 8))
      }
      // Two processes that did not get the lock may both have begun the file.
      func skipHeaders() {
        // No record begins like this: the magic number's lower half would be a length above
        // ``byteLimit``.
        while bytes.count - contents.end >= headerByteCount, word(contents.end) == magic {
          contents.end += headerByteCount
        }
      }
      skipHeaders()
      // A record that is cut off is that of a process that was killed before its call returned.
      while bytes.count - contents.end >= recordHeaderByteCount {
        let (count, start) = (Int(half(contents.end)), contents.end + recordHeaderByteCount)
        guard count > 0, count <= bytes.count - start else { break }
        let payload = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)])
        // A record that is cut off, or not written yet: the file ends here.
        guard payload.checksum == half(contents.end + 4) else { break }
        try DomainRecord.decode(payload) { key, value in
          contents.edits.append(DomainEdit(key: key, value: value))
        }
        contents.end = start + count
        skipHeaders()
      }
      return contents
    }
  }
}

// MARK: - Other files of the name

// A foreign file, which has the name of a waiting file. It has no values that wait, so it must
// not block writing, and its bytes are its owner's.
extension WaitingFile {
  /// How long to wait for another process that quarantines something.
  private static let directoryLockWait = Duration.milliseconds(100)
  /// The maximum number of quarantined files beside a waiting file.
  private static let quarantineLimit = 8

  /// Renames what has the name and is not a waiting file, and returns its new name; nil if there
  /// was nothing to do.
  ///
  /// Its bytes are its owner's, so it is neither written to nor removed.
  ///
  /// - Throws: ``FileError`` when that is impossible.
  func quarantineForeignFile() throws -> String? {
    guard isForeign else { return nil }
    let disk = POSIXDisk()
    // Otherwise two processes could choose the same free name, and the slower one would rename the
    // waiting file that the other one has made meanwhile.
    return try disk.withLockedDirectory(path.directoryPath, wait: Self.directoryLockWait) { _ in
      guard let found = try disk.status(at: path), try isForeign(found, disk) else { return nil }
      for number in 1...Self.quarantineLimit {
        let aside = "\(path).damaged-\(number)"
        // Never over an earlier one.
        guard try disk.status(at: aside) == nil else { continue }
        do {
          try disk.rename(path, to: aside)
        } catch let error as FileError where error.code == .notFound {
          return nil  // Another process has removed it.
        }
        return aside.fileName
      }
      throw FileError(
        code: .notAFile,
        message:
          "Something else has the name \(path.fileName), and \(Self.quarantineLimit) others are kept beside it; "
          + "move them away.", path: path)
    }
  }

  /// Whether something else than a waiting file has the name. A file that cannot be read may be
  /// one, with edits.
  var isForeign: Bool {
    let disk = POSIXDisk()
    guard let found = try? disk.status(at: path) else { return false }
    return (try? isForeign(found, disk)) ?? false
  }

  private func isForeign(_ status: FileStatus, _ disk: POSIXDisk) throws -> Bool {
    guard status.kind == .file else { return true }
    var first = Data(count: Self.magicBytes.count)
    let count = try disk.withDescriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) { descriptor in
      try first.withUnsafeMutableBytes { try disk.read(descriptor, into: $0, path: path) }
    }
    return !Self.hasMagicPrefix(first.prefix(count))
  }

  /// Whether a waiting file may begin with these bytes. A process that was killed may have left
  /// fewer than the magic number.
  static func hasMagicPrefix(_ bytes: Data) -> Bool {
    bytes.prefix(magicBytes.count) == magicBytes.prefix(bytes.count)
  }
}

extension DomainFile {
  /// Quarantines what has the waiting file's name and is not one, and reports it.
  func quarantineForeignWaitingFile() throws {
    guard let kept = try waiting.quarantineForeignFile() else { return }
    problems.add(
      PreferencesError(
        code: .damaged,
        message:
          "Something else had the name of the file \(self.name).waiting, in which values wait for the journal. "
          + "It is kept as \(kept). Find out which program has put it there.", domain: name))
  }
}
