import Foundation
import SteadFiles

/// What is known of a domain's property list file: enough to tell an edit from what was written here.
///
/// It is kept in the journal, with the checkpoint that the file was made from.
struct PublishedFile: Equatable {
  /// What the file is once publishing is done.
  var current: Fingerprint
  /// What it was before, and still is when publishing was cut off.
  var previous: Fingerprint

  /// Length and two hashes of a file's contents.
  struct Fingerprint: Equatable {
    var byteCount: UInt64
    var hash: UInt64

    /// That of no file at all.
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
  private static let version: UInt64 = 1

  /// The form in which the journal keeps it: five words of 64 bits, little endian.
  var metadata: Data {
    let words = [
      Self.version, current.byteCount, current.hash, previous.byteCount, previous.hash,
    ]
    return words.map(\.littleEndian).withUnsafeBytes { Data($0) }
  }

  /// nil when it is not of a version that is known here.
  init?(metadata: UnsafeRawBufferPointer) {
    guard metadata.count == 40 else { return nil }
    func word(_ index: Int) -> UInt64 {
      UInt64(littleEndian: metadata.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
    }
    guard word(0) == Self.version else { return nil }
    current = Fingerprint(byteCount: word(1), hash: word(2))
    previous = Fingerprint(byteCount: word(3), hash: word(4))
  }
}
