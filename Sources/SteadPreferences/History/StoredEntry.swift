import Foundation
import SteadEncoding

/// An entry of a history as it is stored; Documentation/PayloadHistory.md draws it.
struct StoredEntry: Hashable, Sendable {
  enum Body: Hashable, Sendable {
    /// The payload's JSON.
    case json(Data)
    /// A reference to the blob that holds the JSON.
    case blob(String)
    /// A value that isn't an entry, written by another program.
    case other(PropertyList)
  }

  /// The version of the payload's fields; 0 for a value that isn't an entry.
  let version: Int
  let body: Body

  init(version: Int, body: Body) {
    self.version = version
    self.body = body
  }

  init(_ value: PropertyList) {
    if case .array(let parts) = value, parts.count == 2,
      case .integer(let number) = parts[0], let version = Int(exactly: number)
    {
      switch parts[1] {
      case .data(let json): (self.version, body) = (version, .json(json))
      case .string(let reference): (self.version, body) = (version, .blob(reference))
      default: (self.version, body) = (0, .other(value))
      }
      return
    }
    (version, body) = (0, .other(value))
  }

  var propertyList: PropertyList {
    switch body {
    case .json(let json): .array([.integer(Int64(version)), .data(json)])
    case .blob(let reference): .array([.integer(Int64(version)), .string(reference)])
    case .other(let value): value
    }
  }

  /// The reference of the blob that contains the payload.
  var reference: String? {
    if case .blob(let reference) = body { return reference }
    return nil
  }

  /// The size of its JSON in the domain, in bytes, excluding a blob's.
  var byteCount: Int {
    switch body {
    case .json(let json): json.count
    case .blob(let reference): reference.utf8.count
    case .other: 0
    }
  }

  /// Whether these are the bytes of the payload; a blob's name identifies its contents.
  func holds(_ bytes: Data) -> Bool {
    switch body {
    case .json(let json): json == bytes
    case .blob(let reference): SHA256.hexadecimal(bytes) == reference
    case .other(let value): Self.bytes(of: value) == bytes
    }
  }

  /// The bytes for a value that isn't an entry: those of its binary property list.
  static func bytes(of value: PropertyList) -> Data {
    // A file cannot contain a value that does not encode, so the result is never empty.
    (try? PropertyList.dictionary(["value": value]).data(format: .binary)) ?? Data()
  }
}

// MARK: - Keys

/// The name of an entry's key: its sequence number as 16 hexadecimal digits, so that names sort
/// like the numbers.
enum EntryKey {
  /// The highest sequence number, so that a next one always exists. A key with a higher number is
  /// not an entry's.
  static let limit: UInt64 = 1 << 62
  private static let width = 16

  /// The key of a sequence number, written into the string's buffer: a prepend of an update calls
  /// it for each entry.
  static func text(_ sequence: UInt64) -> String {
    String(unsafeUninitializedCapacity: width) { bytes in
      for index in 0..<width {
        let digit = UInt8(truncatingIfNeeded: sequence >> UInt64(4 * (width - 1 - index))) & 15
        bytes[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
      }
      return width
    }
  }

  /// The sequence number; nil for a key that isn't an entry's.
  static func sequence(_ text: String) -> UInt64? {
    let isPlain = text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    guard text.utf8.count == width, isPlain else { return nil }
    return UInt64(text, radix: 16).flatMap { $0 <= limit ? $0 : nil }
  }
}

// MARK: - Header

/// The header of a history's domain: the value of a key beside the entries, as
/// Documentation/PayloadHistory.md draws it.
///
/// Every change writes it, on the condition that it is unchanged: it is the version number of the
/// optimistic concurrency control.
struct HistoryHeader: Equatable, Sendable {
  /// The format that this library writes, and the newest that it knows.
  static let format = 1
  static let key = "state"
  /// The greatest number that is read as a count of changes or entries. They grow by one, so a greater one was not
  /// counted, and adding to it could overflow.
  static let countLimit = Int64.max / 2
  static let importedKey = "taken"
  static let exportedKey = "written"

  var format = HistoryHeader.format
  /// Grows with each change, so that a change can verify that it was computed from the current
  /// state.
  var revision: Int64 = 0
  /// The sequence number of the next entry.
  var next: UInt64 = 1
  /// The number of changes that did more than add entries at the front and drop the oldest. If it
  /// is unchanged, other processes need not read all entries again.
  var edits: Int64 = 0
  /// The number of entries, including those that do not decode.
  var total: Int64 = 0
  /// The digest of the array that was last imported from the app's domain.
  var importedDigest: Data?
  /// The digest of the array that was last written back, followed by that of the one before, which
  /// may still be stored: a process may be killed between the two writes.
  var exportedDigests: Data?
  /// The value from which this was read. A change expects to find it again.
  var stored: PropertyList?

  init() {}

  /// Reads the header from the domain.
  init(_ table: borrowing DomainTable) {
    if case .data(let digest)? = table[Self.importedKey] { importedDigest = digest }
    if case .data(let digest)? = table[Self.exportedKey] { exportedDigests = digest }
    stored = table[Self.key]
    guard case .array(let parts)? = stored else { return }
    let numbers = parts.compactMap { part -> Int64? in
      if case .integer(let number) = part { return number }
      return nil
    }
    // A value edited by hand counts as missing; entries continue their numbering.
    if case .integer(let format)? = parts.first { self.format = Int(format) }
    // The format was read before this: a newer one has to be refused, and not to count as missing.
    guard numbers.count == 5, parts.count == 5, format == Self.format,
      let next = UInt64(exactly: numbers[2]),
      next <= EntryKey.limit,
      [numbers[1], numbers[3], numbers[4]].allSatisfy((0...Self.countLimit).contains)
    else { return }
    (revision, self.next, edits, total) = (numbers[1], max(1, next), numbers[3], numbers[4])
  }

  /// Whether an array under the app's key is one that was written back.
  func isExported(_ digest: Data) -> Bool {
    guard let exportedDigests else { return false }
    return stride(from: 0, to: exportedDigests.count, by: digest.count).contains {
      exportedDigests.dropFirst($0).prefix(digest.count) == digest
    }
  }

  var propertyList: PropertyList {
    .array([
      .integer(Int64(format)), .integer(revision), .integer(Int64(clamping: next)),
      .integer(edits), .integer(total),
    ])
  }
}
