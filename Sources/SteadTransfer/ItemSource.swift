import Foundation
import SteadEncoding
import SteadFiles

/// The implementation of a ``TransferSource``.
///
/// A run calls ``open(_:)``, and ``remove(_:)`` only after all items were written elsewhere and
/// read back. Other processes may add items in between; those are not removed.
protocol ItemSource<Value>: Sendable {
  /// What an item is after it was read.
  associatedtype Value

  /// The source's name in reports and errors: `key drafts of org.example.Notes`.
  var name: String { get }

  /// The name that a receipt remembers, to detect another source under the same transfer's name.
  ///
  /// Nil if the transfer's name identifies the source already, or if the source may be elsewhere
  /// next time.
  var stableName: String? { get }

  /// Whether ``remove(_:)`` can remove items; false for files of other programs.
  var isRemovable: Bool { get }

  /// Whether no future item can equal one that was removed, because each has a number that is never
  /// reused. False by default.
  ///
  /// If true, a run after a crash can remove what is left of its items without doubt
  /// (``TransferPlan/areAllPresent(_:leftIn:)``).
  var hasUniqueIdentities: Bool { get }

  /// A cheap version tag, like an ETag: equal tags mean equal contents. The contents are not read.
  ///
  /// Nil if the source has no such tag, or changed so recently that another change might not alter
  /// it.
  func versionTag() throws -> String?

  /// Opens the source for reading. Changes nothing.
  ///
  /// An item that doesn't decode is an item with an error. A source that can't be split into items
  /// at all throws, here or while items are read.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<Value>

  /// Removes the items of a receipt's entries, as one durable change.
  ///
  /// Each entry stands for one item with its identity. Items that are gone or have changed are
  /// skipped, and added ones stay.
  ///
  /// - Returns: How many items were removed.
  @discardableResult
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int

  /// Whether removing items could remove what was written at these locations, because the source is
  /// the destination. False by default.
  func overlaps(_ placements: [TransferPlacement], of destination: any ItemDestination) -> Bool
}

extension ItemSource {
  var stableName: String? { name }

  var hasUniqueIdentities: Bool { false }

  func versionTag() throws -> String? { nil }

  func overlaps(_ placements: [TransferPlacement], of destination: any ItemDestination) -> Bool {
    false
  }
}

// MARK: - Items

/// The items of a source, which can be iterated several times.
struct ItemReading<Value> {
  typealias Body = (TransferItem<Value>) throws -> Void

  /// The number of items; nil if it isn't known before the end.
  let count: Int?
  private let pass: (TransferProgress.Report, Body) throws -> Void

  /// Items in memory.
  init(_ items: [TransferItem<Value>]) {
    count = items.count
    pass = { _, body in try items.forEach(body) }
  }

  /// Items that are read again in each pass, so that they need not fit into memory.
  ///
  /// - Parameter pass: Calls the body with each item in order, and reports how many it has read.
  init(pass: @escaping (TransferProgress.Report, Body) throws -> Void) {
    count = nil
    self.pass = pass
  }

  /// Calls a body with each item, in the source's order.
  func forEach(_ progress: TransferProgress.Report, _ body: Body) throws {
    try pass(progress, body)
  }
}

/// One item of a source.
struct TransferItem<Value> {
  /// The item's position in the source, for reports: an index, a key, a line. It never contains the
  /// item's value.
  var name: String
  /// The item's identity in the source: a digest of its contents, or a number with one.
  ///
  /// It is the same each time the item is read, and changes with any of the contents. Equal items
  /// may have the same one.
  var identity: String
  /// The item's value, or why it could not be read.
  var value: Result<Value, any Error>
  /// The item's size in the source in bytes, for sources that are read in chunks; otherwise 0.
  var size = 0

  /// The failure of this item for an error of reading or converting it.
  func failure(_ error: any Error) -> TransferFailure {
    TransferFailure(item: name, becauseOf: error)
  }
}

// MARK: - Digests

/// A digest of an item's contents: the first 128 bits of their SHA-256.
///
/// A receipt has two for each item, so truncation halves it. Two of 2^40 items have the same digest
/// by chance with a probability of about 2^-49, less than that of an undetected error of the disk.
enum ItemDigest {
  /// The size of a digest, in bytes.
  static let byteCount = 16
  /// The size of its text, in characters.
  static let digitCount = 2 * byteCount

  /// The digest in lower-case hexadecimal digits.
  static func text(of data: Data) -> String {
    SHA256.hexadecimal(data, byteCount: byteCount)
  }

  /// The digest of several strings. Each is preceded by its length, so that no two lists have the
  /// same bytes.
  static func text(of texts: some Sequence<String>) -> String {
    var bytes: [UInt8] = []
    for var text in texts {
      text.withUTF8 { utf8 in
        // Without lengths ["ab", "c"] and ["a", "bc"] would have one digest.
        withUnsafeBytes(of: UInt64(utf8.count).littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: utf8)
      }
    }
    return self.text(of: Data(bytes))
  }
}

/// A digest in bytes, for a compact receipt, and its text.
struct HexadecimalDigest {
  private static let digits = Array("0123456789abcdef".utf8)

  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Parses a digest; nil for any string that ``text`` would not reproduce, such as one with
  /// capital letters.
  init?(_ text: some Collection<UInt8>) {
    // Checked first, since this runs for every string of a receipt.
    guard text.count == ItemDigest.digitCount else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(ItemDigest.byteCount)
    var high: UInt8?
    for digit in text {
      guard let value = Self.value(of: digit) else { return nil }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    self.bytes = bytes
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  /// The digest in lower-case hexadecimal digits.
  var text: String {
    String(
      decoding: bytes.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] },
      as: UTF8.self)
  }
}

// MARK: - Version tags of files

extension FileStatus {
  /// Whether a further change would get another time.
  ///
  /// File systems take times from a clock that ticks every few milliseconds. A change within the
  /// same tick as the last one would leave size and times as they are, so a version tag taken now
  /// could hide it.
  var hasReliableTimestamp: Bool {
    let age = Date().timeIntervalSince(changed)
    // A time in the future proves nothing, and waiting for it would take too long.
    return age < 0 || age >= Self.settlingTime
  }

  /// A string that differs after a change to a file with a reliable timestamp: identity, size and
  /// times.
  var versionTag: String {
    // The time of the last change of status: unlike that of modification, no program can set it.
    let changed = changed.timeIntervalSinceReferenceDate
    return "\(identity.device).\(identity.file) \(size) \(modifiedNanoseconds) \(changed)"
  }
}
