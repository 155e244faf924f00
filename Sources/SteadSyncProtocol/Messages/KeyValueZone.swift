/// The zone of a key-value store: one record per key, within the limits of `NSUbiquitousKeyValueStore`.
///
/// A key's record has the identity ``recordID(forKey:)`` and one field. An update sets its value if the record lives,
/// otherwise an insert does; a delete removes it. ``Zone`` applies the ``limits`` to each transaction that writes
/// records of the ``type``, whatever its own limits are: a client that was changed cannot get around them.
///
/// "Key-value stores" under "Helpers that must agree" in Documentation/SyncProtocol.md.
package enum KeyValueZone {
  /// The type of all records.
  package static let type = "kv"
  /// The field with the value.
  package static let field = "value"
  /// The maximum number of keys of a store.
  package static let keyLimit = 1024
  /// The maximum number of UTF-8 bytes of a key.
  package static let keyBytes = 64

  /// The limits of the zone, for ``Zone`` and ``ClientZone``: 1 MB in all, 1 MB per value.
  package static let limits: SyncLimits = {
    var limits = SyncLimits()
    limits.zoneBytes = 1_000_000
    limits.zoneRecords = keyLimit
    return limits
  }()

  /// Why a value can't be set. Nothing is changed then.
  package enum Problem: Error, Hashable, Sendable {
    /// The key is empty or longer than ``KeyValueZone/keyBytes``.
    case key
    /// The value alone is too large, or contains something that can't be sent.
    case value(limit: Int, needed: Int)
    /// All values together would be too large.
    case total(limit: Int, needed: Int)
    /// There would be too many keys.
    case keys(limit: Int, needed: Int)
  }

  /// The contents of a store.
  package struct Usage: Hashable, Sendable {
    /// The number of keys.
    package var keys = 0
    /// The sum of their records' sizes.
    package var bytes = 0

    package init() {}

    /// Counts a record, or what remains when it is replaced by another.
    package mutating func replace(_ old: Record?, by new: Record?) {
      for (record, sign) in [(old, -1), (new, 1)] {
        guard let record, record.isLive else { continue }
        keys += sign
        bytes += sign * record.size
      }
    }
  }

  /// The record of a key: its UTF-8, percent-encoded except letters, digits and `-._~`. Nil for an invalid key.
  package static func recordID(forKey key: String) -> RecordID? {
    guard (1...keyBytes).contains(key.utf8.count) else { return nil }
    var text: [UInt8] = []
    for byte in key.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: text.append(byte)
      default: text.appendPercentEncoded(byte)
      }
    }
    return RecordID(String(decoding: text, as: UTF8.self))
  }

  /// The key of a record; nil for an identity that isn't the one spelling that ``recordID(forKey:)`` gives a key.
  package static func key(of id: RecordID) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(id.text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte != 0x25 {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2,
        let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(code)
      rest = rest.dropFirst(2)
    }
    // Otherwise lower-case digits, or an escape of a plain character, would name a second record of
    // the key.
    guard let key = String(validating: bytes, as: UTF8.self), recordID(forKey: key) == id else {
      return nil
    }
    return key
  }

  /// Why a value cannot be set in a store with these contents; nil if it can.
  package static func problem(
    setting value: SyncValue, forKey key: String, replacing old: Record?, usage: Usage
  ) -> Problem? {
    guard let id = recordID(forKey: key) else { return .key }
    // The size that the record is going to have; see ``Record/size``.
    let size = id.text.utf8.count + type.utf8.count + field.utf8.count + value.size
    guard value.isValid(), size <= limits.recordBytes else {
      return .value(limit: limits.recordBytes, needed: size)
    }
    let before = old?.isLive == true ? old?.size : nil
    if before == nil, usage.keys >= keyLimit {
      return .keys(limit: keyLimit, needed: usage.keys + 1)
    }
    let total = usage.bytes - (before ?? 0) + size
    // A smaller value can be set even in a store beyond its limit.
    guard total > limits.zoneBytes, size > before ?? 0 else { return nil }
    return .total(limit: limits.zoneBytes, needed: total)
  }
}
