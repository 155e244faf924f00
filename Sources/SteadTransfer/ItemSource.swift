import Foundation
import SteadFiles

/// What a ``TransferSource`` reads from, and removes from.
///
/// Items are removed from a source only after they were written elsewhere and read back from there. Others may add to
/// it at any time; what they add is left alone.
protocol ItemSource<Value>: Sendable {
  /// What one item is, once it has been read.
  associatedtype Value

  /// What it is, for reports and errors: `key drafts of org.example.Notes`.
  var name: String { get }

  /// The name by which a receipt knows the source, so that another one under the same transfer's name is noticed;
  /// nil where the transfer's name tells that, or the source may have another name the next time.
  var stableName: String? { get }

  /// Whether ``remove(_:)`` can take items out; a file of another program is left as it is.
  var isRemovable: Bool { get }

  /// Whether no item can ever come that equals one which was removed, since each has a number of its own;
  /// false unless a source says otherwise.
  ///
  /// After a run that was cut off, what is left of its items can then be removed without a doubt.
  var hasUniqueIdentities: Bool { get }

  /// A text that stays the same for as long as the source holds the same, without reading it; nil when it
  /// cannot tell, or has changed so lately that another change might not show.
  func versionTag() throws -> String?

  /// What the source holds now. Changes nothing.
  ///
  /// An item that does not decode is an item with an error. What cannot be taken apart into items at all
  /// is an error thrown, here or while the items are gone through.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<Value>

  /// Takes items out for good, as one change, and nothing else, whatever was added meanwhile.
  ///
  /// An entry stands for one item with that identity; one that is gone already, or has changed, is no
  /// error. Returns when it would survive a loss of power.
  ///
  /// - Returns: How many items were taken out.
  @discardableResult
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int

  /// Whether removing from the source could take away what is put at these places; false unless a source
  /// says otherwise.
  ///
  /// What is written there would be taken for what is to be removed.
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

/// What a source holds, to be gone through item by item, as often as needed.
struct ItemReading<Value> {
  typealias Body = (TransferItem<Value>) throws -> Void

  /// The number of items; nil if it is only known at the end.
  let count: Int?
  private let pass: (TransferProgress.Report, Body) throws -> Void

  /// Items that are in memory.
  init(_ items: [TransferItem<Value>]) {
    count = items.count
    pass = { _, body in try items.forEach(body) }
  }

  /// Items that are read again in each pass.
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
  /// The item's place in the source, for reports: an index, a key, a line. It never contains the item's value.
  var name: String
  /// The item's identity in the source. It depends on all of the item's contents, and is the same each time the item
  /// is read. Equal items may share one.
  var identity: String
  /// The item's value, or why it could not be read.
  var value: Result<Value, any Error>
  /// The item's size in the source, in bytes, if items are read one after another.
  var size = 0

  /// Why the item was not moved: an error of its reading or conversion.
  func failure(_ error: any Error) -> TransferFailure {
    TransferFailure(item: name, becauseOf: error)
  }
}

// MARK: - Digests

/// What tells contents of items apart: the first 128 bits of their SHA-256.
///
/// A receipt has two for each item, so that half of them is saved. That two contents share one by chance is as
/// unlikely as that a disk returns them wrong unnoticed.
enum ItemDigest {
  static let byteCount = 16
  static let digitCount = 2 * byteCount

  /// The digest in lower-case hexadecimal digits.
  static func text(of data: Data) -> String {
    SHA256.hexadecimal(data, byteCount: byteCount)
  }

  /// The digest of several strings. Each is preceded by its length, so that no two lists give the same bytes.
  static func text(of texts: some Sequence<String>) -> String {
    var bytes: [UInt8] = []
    for var text in texts {
      text.withUTF8 { utf8 in
        withUnsafeBytes(of: UInt64(utf8.count).littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: utf8)
      }
    }
    return self.text(of: Data(bytes))
  }
}

/// The bytes of a digest that is written in lower-case hexadecimal digits.
struct HexadecimalDigest {
  private static let digits = Array("0123456789abcdef".utf8)

  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Nil for any string that ``text`` would not return unchanged.
  init?(_ text: some Collection<UInt8>) {
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

  var text: String {
    String(
      decoding: bytes.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] },
      as: UTF8.self)
  }
}

// MARK: - Version tags of files

extension FileStatus {
  /// Whether the last change is so long ago that a further one would have another time.
  var hasReliableTimestamp: Bool {
    let age = Date().timeIntervalSince(changed)
    // A time in the future proves nothing, and waiting for it would take too long.
    return age < 0 || age >= Self.settlingTime
  }

  /// A string that differs once a settled file has changed.
  var versionTag: String {
    let changed = changed.timeIntervalSinceReferenceDate
    return "\(identity.device).\(identity.file) \(size) \(modifiedNanoseconds) \(changed)"
  }
}
