import Foundation
import SteadFiles
import SteadFormats

/// Identifies a domain's property list file, to tell an edit from this package's own write and from
/// damage.
///
/// Stored as the metadata of the journal's checkpoint from which the file was made, before the file
/// takes its name. So a process that finds the files after a kill knows which of the two steps was
/// done.
struct PublishedFile: Equatable {
  /// The file made from the checkpoint.
  var current: Copy
  /// The file that it replaces. It still exists if publishing was interrupted.
  var previous: Copy

  /// A file with certain contents.
  struct Copy: Equatable {
    var fingerprint: Fingerprint
    /// Which file; nil when unknown, as for one that was not written here.
    var mark: Mark?

    /// No file.
    static let none = Copy(fingerprint: .none, mark: nil)

    /// Whether an existing file is this one.
    ///
    /// Equal contents do not suffice: an editor may have undone the last change by copying an older
    /// file back, which is an edit.
    func isSame(as found: Copy) -> Bool {
      guard fingerprint == found.fingerprint else { return false }
      guard let mark, let other = found.mark else { return true }
      return mark.isSame(as: other)
    }
  }

  /// A file's inode number and the date of its last change.
  ///
  /// An edit changes at least one of them. A disk that loses or flips bits changes neither.
  struct Mark: Equatable {
    var file: UInt64
    var modified: Int64

    init(file: UInt64, modified: Int64) { (self.file, self.modified) = (file, modified) }

    init(_ status: FileStatus) {
      self.init(file: status.identity.file, modified: status.modifiedNanoseconds)
    }

    /// Whether the file system's dates are so fine that each change gives another one. One file in
    /// 10^9 has a whole second by chance, which only costs a comparison of contents.
    var isFine: Bool { !modified.isMultiple(of: Self.second) }
    private static let second: Int64 = 1_000_000_000

    /// Whether a mark is this one, or this one as a file system with coarse dates rounds it.
    func isSame(as found: Mark) -> Bool {
      guard file == found.file else { return false }
      // FAT's dates, the coarsest in use, advance in steps of two seconds.
      let isNear = abs(modified - found.modified) < 2 * Self.second
      return modified == found.modified || !found.isFine && isNear
    }
  }

  /// Length and hash of contents. No protection against intent: editing the file is allowed.
  struct Fingerprint: Equatable {
    var byteCount: UInt64
    var hash: UInt64

    /// The fingerprint of a missing file.
    static let none = Fingerprint(byteCount: 0, hash: 0)
  }
}

extension PublishedFile.Fingerprint {
  /// Hashes contents, at some gigabytes a second. Documentation/PreferencesFile.md defines the
  /// function.
  init(_ data: Data) {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    data.withUnsafeBytes { bytes in
      let prime: UInt64 = 0x9E37_79B9_7F4A_7C15
      let words = bytes.count / 8
      for index in 0..<words {
        let word = bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)
        hash = (hash ^ UInt64(littleEndian: word)) &* prime
        hash ^= hash >> 29
      }
      for byte in bytes[(words * 8)...] { hash = (hash ^ UInt64(byte)) &* prime }
      hash ^= hash >> 32
    }
    self.init(byteCount: UInt64(data.count), hash: hash)
  }
}

extension PublishedFile {
  /// With marks.
  private static let version: UInt64 = 2
  /// Without a mark.
  private static let firstVersion: UInt64 = 1

  /// The stored form: 64-bit words, little endian. Version 1 is written when no mark is known, for
  /// older programs.
  var metadata: Data {
    let (now, before) = (current.fingerprint, previous.fingerprint)
    var words = [Self.firstVersion, now.byteCount, now.hash, before.byteCount, before.hash]
    if current.mark != nil || previous.mark != nil {
      words[0] = Self.version
      for mark in [current.mark, previous.mark] {
        words += [mark?.file ?? 0, UInt64(bitPattern: mark?.modified ?? 0)]
      }
    }
    return words.map(\.littleEndian).withUnsafeBytes { Data($0) }
  }

  /// Decodes the stored form; nil when its version is unknown.
  init?(metadata: UnsafeRawBufferPointer) {
    guard metadata.count.isMultiple(of: 8) else { return nil }
    let words = stride(from: 0, to: metadata.count, by: 8).map { offset in
      UInt64(littleEndian: metadata.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    let isMarked: Bool
    switch (words.first, words.count) {
    case (Self.firstVersion, 5): isMarked = false
    case (Self.version, 9): isMarked = true
    default: return nil
    }
    func copy(_ contents: Int, _ mark: Int) -> Copy {
      let fingerprint = Fingerprint(byteCount: words[contents], hash: words[contents + 1])
      // 0 stands for an unknown file: none has that number.
      guard isMarked, words[mark] != 0 else { return Copy(fingerprint: fingerprint, mark: nil) }
      let found = Mark(file: words[mark], modified: Int64(bitPattern: words[mark + 1]))
      return Copy(fingerprint: fingerprint, mark: found)
    }
    current = copy(1, 5)
    previous = copy(3, 7)
  }
}

// MARK: - A new checkpoint

/// A checkpoint and the property list made from it, which is written and synced but does not have
/// its name yet.
struct CheckpointDraft {
  let checkpoint: Journal.Checkpoint
  let file: PreparedFile
  /// Identifies the file. The journal stores it before the file takes its name.
  let published: PublishedFile
  /// Whether the file to be replaced was written here, with a date that no later write gives. Then
  /// its status tells it from an edited one, and it need not be read.
  private let replacesOwn: Bool

  /// Writes the property list under a temporary name, in the domain's format.
  ///
  /// - Parameter domain: The domain whose property list is to be replaced.
  init(of table: DomainTable, for domain: DomainFile) throws {
    // The checkpoint is always binary; only the published file may be XML.
    let bytes = try BinaryPropertyList.encode(table.fields())
    let stamps = domain.stampSources.stamps
    let stamped = stamps.added(to: bytes)
    let text = domain.options.format == .xml ? domain.xml(table, stamps) ?? stamped : stamped
    var target = AtomicFile(domain.plist)
    // The store waits, with its own lock released.
    target.lockWait = .zero
    replacesOwn =
      domain.plistState.onDisk == domain.plistState.published.current
      && domain.plistState.onDisk.mark?.isFine == true
    file = try target.prepare(text)
    // The inode and the date are known once the file is written, before it has its name.
    published = PublishedFile(
      current: .init(fingerprint: .init(text), mark: .init(file.status)),
      previous: domain.plistState.onDisk)
    checkpoint = Journal.Checkpoint(bytes: stamped, metadata: published.metadata)
  }

  /// Whether a file is the one to be replaced, and not edited meanwhile.
  func isExpected(_ found: FoundFile) throws -> Bool {
    let old = published.previous
    // No file is expected only if there was none before.
    guard let status = found.status else { return old.fingerprint == .none }
    if replacesOwn, old.mark == .init(status), old.fingerprint.byteCount == status.size {
      return true
    }
    // The date is not conclusive, so the contents decide.
    return try .init(found.contents()) == old.fingerprint
  }
}

extension DomainFile {
  /// The XML form of the contents; nil, and reported once, when XML cannot hold a value.
  ///
  /// The binary format is published then. Without that no compaction could succeed, and the log
  /// would grow without limit.
  func xml(_ table: DomainTable, _ stamps: KeyStamps? = nil) -> Data? {
    do {
      let xml = try PropertyList.dictionary(.init(table.fields())).data(format: .xml)
      plistState.hasReportedFormat = false
      return stamps?.added(toXML: xml) ?? xml
    } catch {
      if !plistState.hasReportedFormat {
        problems.add(
          PreferencesError(
            code: .notAPropertyList,
            message:
              "XML cannot hold all values of the domain, so the property list is written in the "
              + "binary format. Remove control characters from strings, and dates whose year has "
              + "more than 9 digits, or choose the binary format.",
            domain: name, cause: error))
      }
      plistState.hasReportedFormat = true
      return nil
    }
  }
}

// MARK: - The first checkpoint

/// Makes the first checkpoint of a new journal from the property list, if one exists.
struct CheckpointLoader {
  let plist: URL
  let isReadOnly: Bool
  let problems: DomainFile.Problems

  /// The checkpoint; an empty one when the property list does not exist or does not parse.
  func load() throws -> Journal.Checkpoint {
    guard let data = try DomainFile.plainFile(plist).readIfPresent() else {
      return try checkpoint([:], .none)
    }
    let fingerprint = PublishedFile.Fingerprint(data)
    do {
      return try checkpoint(PropertyList.fields(of: data), fingerprint, KeyStamps(file: data))
    } catch {
      try quarantine(data, error)
      return try checkpoint([:], fingerprint)
    }
  }

  /// Without a mark, which makes the metadata's version 1: the file was not published from this
  /// checkpoint.
  private func checkpoint(
    _ fields: PropertyList.Fields, _ fingerprint: PublishedFile.Fingerprint,
    _ stamps: KeyStamps? = nil
  ) throws -> Journal.Checkpoint {
    let published = PublishedFile(
      current: .init(fingerprint: fingerprint, mark: nil), previous: .none)
    let bytes = try BinaryPropertyList.encode(fields)
    return Journal.Checkpoint(
      bytes: stamps?.added(to: bytes) ?? bytes, metadata: published.metadata)
  }

  /// Quarantines a property list that does not parse, when no journal has its values either.
  private func quarantine(_ data: Data, _ cause: any Error) throws {
    let name = plist.lastPathComponent
    guard !isReadOnly else {
      throw PreferencesError(
        code: .damaged, message: "\(name) does not parse. Repair it or move it away.", cause: cause)
    }
    let kept = try QuarantinedFile(of: plist).write(data)
    problems.add(
      PreferencesError(
        code: .damaged,
        message:
          "The property list \(name) does not parse, and no journal exists to restore it from. "
          + "It is kept as \(kept); put it back, repaired, to get its values.", cause: cause))
  }
}

// MARK: - Damaged files

/// The copy of a damaged property list under another name.
struct QuarantinedFile {
  /// The maximum number of copies of one file.
  static let limit = 100

  let original: URL

  init(of original: URL) {
    self.original = original
  }

  /// Writes the bytes to `NAME.damaged-1` or the next free number, and returns the name.
  ///
  /// - Throws: ``PreferencesError`` `.damaged` when ``limit`` copies exist. The original must then
  ///   be left in place.
  func write(_ data: Data) throws -> String {
    for number in 1...Self.limit {
      let name = "\(original.lastPathComponent).damaged-\(number)"
      let url = original.deletingLastPathComponent().appending(path: name)
      do {
        try AtomicFile(url).create(with: data)
        return name
      } catch let error as FileError where error.code == .alreadyExists {
        // Another process, or an earlier attempt, has kept the same bytes.
        if try AtomicFile(url).readIfPresent() == data { return name }
      }
    }
    throw PreferencesError(
      code: .damaged,
      message:
        "\(original.lastPathComponent) does not parse, and \(Self.limit) damaged copies of it "
        + "exist already. Check them and move them away.")
  }
}
