import Foundation
import SteadFiles

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
