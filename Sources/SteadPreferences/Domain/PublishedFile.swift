import Foundation
import SteadFiles
import SteadFormats

/// What is known about a domain's property list file: enough to distinguish an edit from our own write.
///
/// It is stored in the journal, with the checkpoint from which the file was made.
struct PublishedFile: Equatable {
  /// The file once publishing is done.
  var current: Copy
  /// The file before, which still exists if publishing was interrupted.
  var previous: Copy

  /// A file of certain contents.
  struct Copy: Equatable {
    var fingerprint: Fingerprint
    /// Distinguishes it from every other file; nil when unknown.
    var mark: Mark?

    /// No file.
    static let none = Copy(fingerprint: .none, mark: nil)

    /// Whether an existing file is this one, as far as that can be known.
    ///
    /// A file with the same contents can be another: somebody has undone the last change by hand.
    func isSame(as found: Copy) -> Bool {
      guard fingerprint == found.fingerprint else { return false }
      guard let mark, let other = found.mark else { return true }
      return mark.isSame(as: other)
    }
  }

  /// A file's number and the date of its last change.
  ///
  /// An edit changes one of them. A disk that loses or flips bits changes neither.
  struct Mark: Equatable {
    var file: UInt64
    var modified: Int64

    init(file: UInt64, modified: Int64) { (self.file, self.modified) = (file, modified) }

    init(_ status: FileStatus) {
      self.init(file: status.identity.file, modified: status.modifiedNanoseconds)
    }

    /// Whether the file system's dates are so fine that every change produces another one.
    var isFine: Bool { !modified.isMultiple(of: Self.second) }
    private static let second: Int64 = 1_000_000_000

    /// Whether a file's mark is this one, or its rounded form on a file system with coarse dates.
    func isSame(as found: Mark) -> Bool {
      guard file == found.file else { return false }
      let isNear = abs(modified - found.modified) < 2 * Self.second
      return modified == found.modified || !found.isFine && isNear
    }
  }

  /// Length and hash of a file's contents.
  struct Fingerprint: Equatable {
    var byteCount: UInt64
    var hash: UInt64

    /// The fingerprint of a missing file.
    static let none = Fingerprint(byteCount: 0, hash: 0)
  }
}

extension PublishedFile.Fingerprint {
  /// The fingerprint of contents; costs a pass over them at some gigabytes a second.
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
  private static let version: UInt64 = 2
  /// Without a mark.
  private static let firstVersion: UInt64 = 1

  /// The form stored in the journal: 64-bit words, little endian.
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

  /// nil when its version is unknown.
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
      guard isMarked, words[mark] != 0 else { return Copy(fingerprint: fingerprint, mark: nil) }
      let found = Mark(file: words[mark], modified: Int64(bitPattern: words[mark + 1]))
      return Copy(fingerprint: fingerprint, mark: found)
    }
    current = copy(1, 5)
    previous = copy(3, 7)
  }
}

// MARK: - A new checkpoint

/// A checkpoint, and its property list file, which is written but has yet to take its name.
struct CheckpointDraft {
  let checkpoint: Journal.Checkpoint
  let file: PreparedFile
  /// Distinguishes the file from an edited one. It is in the journal before the file has its name.
  let published: PublishedFile
  /// Whether the replaced file was written here, with a date that no later write produces.
  private let replacesOwn: Bool

  /// Writes the file, in the domain's format.
  ///
  /// - Parameter domain: Knows which file to replace.
  init(of table: DomainTable, for domain: DomainFile) throws {
    let bytes = try BinaryPropertyList.encode(table.fields())
    let stamps = domain.stampSources.stamps
    let stamped = stamps.added(to: bytes)
    let text = domain.options.format == .xml ? domain.xml(table, stamps) ?? stamped : stamped
    var target = AtomicFile(domain.plist)
    // The store waits, and lets others read meanwhile.
    target.lockWait = .zero
    replacesOwn = domain.onDisk == domain.published.current && domain.onDisk.mark?.isFine == true
    file = try target.prepare(text)
    published = PublishedFile(
      current: .init(fingerprint: .init(text), mark: .init(file.status)), previous: domain.onDisk)
    checkpoint = Journal.Checkpoint(bytes: stamped, metadata: published.metadata)
  }

  /// Whether a file is the one to be replaced. It is read if its date isn't conclusive.
  func isExpected(_ found: FoundFile) throws -> Bool {
    let old = published.previous
    guard let status = found.status else { return old.fingerprint == .none }
    if replacesOwn, old.mark == .init(status), old.fingerprint.byteCount == status.size {
      return true
    }
    return try .init(found.contents()) == old.fingerprint
  }
}

extension DomainFile {
  /// nil, and an error to be reported once, when XML cannot hold a value: otherwise the log would grow without
  /// end.
  func xml(_ table: DomainTable, _ stamps: KeyStamps? = nil) -> Data? {
    do {
      let xml = try PropertyList.dictionary(.init(table.fields())).data(format: .xml)
      hasReportedFormat = false
      return stamps?.added(toXML: xml) ?? xml
    } catch {
      if !hasReportedFormat {
        problems.add(
          PreferencesError(
            code: .notAPropertyList,
            message:
              "XML cannot hold all values of the domain, so the property list is written in the "
              + "binary format. Remove control characters from strings, and dates whose year has "
              + "more than 9 digits, or choose the binary format.",
            domain: name, cause: error))
      }
      hasReportedFormat = true
      return nil
    }
  }
}

// MARK: - The first checkpoint

/// Makes a journal's first checkpoint from the property list file, if one exists.
struct CheckpointLoader {
  let plist: URL
  let isReadOnly: Bool
  let problems: DomainFile.Problems

  /// The checkpoint; an empty one when the file does not exist or does not parse.
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
