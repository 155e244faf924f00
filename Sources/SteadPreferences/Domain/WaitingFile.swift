import Foundation
import SteadFiles

/// The file `D.waiting`: edits that could not be written to a domain's journal, mostly since a stopped process has it
/// locked.
///
/// Whoever next gets the journal's lock writes them there and removes the file. So a program may set a value and end
/// while nobody can write the journal. All processes share the file; Documentation/PreferencesFile.md draws it.
struct WaitingFile {
  /// The maximum size of the file in bytes; later edits are kept in memory alone.
  static let byteLimit = 16 << 20
  /// How long to wait for another process that adds to the file, or moves away what isn't one.
  static let lockWait = Duration.milliseconds(100)

  let path: String
  private let disk = POSIXDisk()

  init(_ url: URL) { path = url.path(percentEncoded: false) }

  /// What the file holds.
  struct Contents {
    /// Distinguishes the file from earlier and later ones.
    var id: UInt64
    var edits: [DomainEdit] = []
    /// Where the journal's record begins in which they were about to be written; nil if that never began.
    var place: Journal.Place?
    fileprivate var isNew = true
    /// Where the complete records end.
    fileprivate var end = WaitingFile.headerByteCount
  }

  /// Whether there is one.
  ///
  /// A link counts as one, even if it leads nowhere, so that it is moved away.
  var isPresent: Bool { (try? disk.status(at: path)) != nil }

  /// The contents as of now; nil when there is no file, or an unusable one.
  func read() throws -> Contents? {
    do {
      return try disk.withDescriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) { descriptor in
        try contents(of: descriptor)
      }
    } catch let error as FileError where error.code == .notFound {
      return nil
    }
  }

  /// Adds edits, which survive the end of this process, and returns the file's number.
  ///
  /// - Throws: ``FileError`` when the file cannot be written, or is locked.
  func append(_ edits: [DomainEdit]) throws -> UInt64 {
    for _ in 0..<Self.attemptLimit {
      let descriptor = try open(O_RDWR | O_CREAT)
      defer { disk.close(descriptor) }
      guard try lock(descriptor) else { continue }
      defer { disk.unlock(descriptor) }
      let contents = try ownContents(of: descriptor) ?? Contents(id: .random(in: 1 ... .max))
      // A file without a whole header is new, or was left by a process that was killed here.
      if contents.isNew { try write(Self.header(contents.id), at: 0, descriptor) }
      let record = try Self.record(of: edits)
      guard contents.end + record.count <= Self.byteLimit else {
        throw FileError(
          code: .tooLarge, message: "Too many values wait for the journal.", path: path)
      }
      try write(record, at: contents.end, descriptor)
      return contents.id
    }
    throw busy
  }

  /// Lets `body` write the contents to the journal, and removes the file afterwards.
  ///
  /// Requires the journal's lock. Nothing is called when there is no file.
  ///
  /// - Parameters:
  ///   - place: Where the journal's next record begins. It is noted in the file first, so that whoever finds the file
  ///     after a kill knows where to look for that record.
  ///   - body: Appends one record to the journal.
  func merge(at place: Journal.Place, _ body: (Contents) throws -> Void) throws {
    for _ in 0..<Self.attemptLimit {
      guard isPresent else { return }
      let descriptor = try open(O_RDWR)
      defer { disk.close(descriptor) }
      guard try lock(descriptor) else { continue }
      defer { disk.unlock(descriptor) }
      if let contents = try ownContents(of: descriptor) {
        var words = [place.salt.littleEndian, place.offset.littleEndian]
        try write(Data(bytes: &words, count: 16), at: Self.placeOffset, descriptor)
        try body(contents)
      }
      return try disk.remove(path)
    }
    throw busy
  }
}

extension WaitingFile {
  private static let attemptLimit = 100

  private func open(_ flags: Int32) throws -> Int32 {
    let descriptor = try disk.open(path, flags | O_NOFOLLOW | O_NONBLOCK, mode: 0o600)
    // The superuser leaves it to the user whose directory it is.
    if geteuid() == 0, let parent = try? disk.statusFollowingLinks(path.directoryPath),
      parent.user != 0
    {
      try? disk.setOwner(descriptor, user: parent.user, group: parent.group, path: path)
    }
    return descriptor
  }

  /// Returns whether the locked file still has the name.
  private func lock(_ descriptor: Int32) throws -> Bool {
    var waited = Duration.zero
    while try !disk.lock(descriptor, wait: false, path: path) {
      guard waited < Self.lockWait else { throw busy }
      waited += .milliseconds(1)
      usleep(1_000)
    }
    return try disk.status(at: path)?.identity == disk.status(descriptor, path: path).identity
  }

  private var busy: FileError {
    FileError(code: .busy, message: "Another process has locked the file.", path: path)
  }

  private func contents(of descriptor: Int32) throws -> Contents? {
    let data = try disk.contents(of: descriptor, limit: Self.byteLimit, path: path)
    return try Self.contents(data)
  }

  /// The contents of a file that is about to be changed.
  ///
  /// - Throws: ``FileError`` when it isn't a waiting file, so that its bytes are somebody else's.
  private func ownContents(of descriptor: Int32) throws -> Contents? {
    let data = try disk.contents(of: descriptor, limit: Self.byteLimit, path: path)
    guard Self.isBeginning(data) else {
      throw FileError(
        code: .notAFile,
        message: "Something else has the name \(path.fileName); move it away.", path: path)
    }
    return try Self.contents(data)
  }

  private func write(_ data: Data, at offset: Int, _ descriptor: Int32) throws {
    guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else {
      throw FileError(errno: errno, doing: "write to the file", path: path)
    }
    try data.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let buffer = UnsafeRawBufferPointer(rebasing: rest)
        rest = rest.dropFirst(try disk.write(descriptor, from: buffer, path: path))
      }
    }
  }
}

// MARK: The format

extension WaitingFile {
  /// "SteadWtg", read as a little-endian number.
  private static let magic: UInt64 = 0x6774_5764_6165_7453
  static var magicBytes: Data { withUnsafeBytes(of: magic.littleEndian) { Data($0) } }
  private static let version: UInt64 = 1
  private static let placeOffset = 24
  private static let headerByteCount = 40
  /// Length and checksum.
  private static let recordHeaderByteCount = 8

  private static func header(_ id: UInt64) -> Data {
    [magic, version, id, 0, 0].map(\.littleEndian).withUnsafeBytes { Data($0) }
  }

  private static func record(of edits: [DomainEdit]) throws -> Data {
    let count = try edits.reduce(0) { try $0 + DomainRecord.byteCount($1.key, $1.value) }
    var record = Data(count: recordHeaderByteCount + count)
    record.withUnsafeMutableBytes { bytes in
      let payload = UnsafeMutableRawBufferPointer(rebasing: bytes[recordHeaderByteCount...])
      var offset = 0
      for edit in edits {
        let rest = UnsafeMutableRawBufferPointer(rebasing: payload[offset...])
        offset += DomainRecord.encode(edit.key, edit.value, into: rest)
      }
      let checksum = UnsafeRawBufferPointer(payload).checksum
      bytes.storeBytes(of: UInt32(count).littleEndian, as: UInt32.self)
      bytes.storeBytes(of: checksum.littleEndian, toByteOffset: 4, as: UInt32.self)
    }
    return record
  }

  /// nil for an empty file, which a process that was killed has left.
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
      contents.isNew = false
      if word(placeOffset) != 0 {
        contents.place = Journal.Place(salt: word(placeOffset), offset: word(placeOffset + 8))
      }
      // A record that is cut off is that of a process that was killed before its call returned.
      while bytes.count - contents.end >= recordHeaderByteCount {
        let (count, start) = (Int(half(contents.end)), contents.end + recordHeaderByteCount)
        guard count > 0, count <= bytes.count - start else { break }
        let payload = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)])
        guard payload.checksum == half(contents.end + 4) else { break }
        try DomainRecord.decode(payload) { key, value in
          contents.edits.append(DomainEdit(key: key, value: value))
        }
        contents.end = start + count
      }
      return contents
    }
  }
}
