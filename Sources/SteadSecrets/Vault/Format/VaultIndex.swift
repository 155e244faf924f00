import Foundation

/// The contents of a vault, without the secrets.
///
/// Decrypted, it is the digest (32 bytes), the number of entries (4), the entries, and zeros up to a multiple
/// of 256 bytes, so that the file's length reveals little about names. There is exactly one encoding of an
/// index: entries and attributes are sorted, none occurs twice, and the padding has a fixed length. Anything
/// else is refused.
struct VaultIndex: Hashable, Sendable {
  /// SHA-256 of the values.
  var valuesDigest: [UInt8]
  /// Sorted by service and account, byte by byte.
  var entries: [VaultEntry]

  init(valuesDigest: [UInt8], entries: [VaultEntry]) {
    (self.valuesDigest, self.entries) = (valuesDigest, entries)
  }

  /// Parses an index from its decrypted bytes.
  ///
  /// - Parameter valuesLength: The length of the values, which the items' lengths must add up to.
  /// - Throws: ``SecretError``: `.corrupt`.
  init(
    parsing bytes: UnsafeRawBufferPointer, valuesLength: Int
  ) throws(SecretError) {
    var reader = VaultReader(bytes)
    valuesDigest = try reader.array(VaultLayout.digestSize)
    let count = try reader.count(UInt32.self, limit: VaultLayout.itemLimit)
    entries = []
    // Not by `count` alone: a short file could declare many entries, and allocate memory for them.
    entries.reserveCapacity(min(count, bytes.count / VaultLayout.itemFieldsSize))
    var end = 0
    for _ in 0..<count {
      let entry = try VaultEntry(from: &reader)
      // Searches are binary, and would miss an entry that is out of order.
      if let last = entries.last, !last.precedes(entry) {
        throw .damagedVault("its items are not sorted")
      }
      end += entry.sealedSize
      // The lengths are wrong already, which is an error below.
      guard end <= valuesLength else { break }
      entries.append(entry)
    }
    guard end == valuesLength else {
      throw .damagedVault("its values' length isn't the declared one")
    }
    // One encoding of each index: longer padding, or bytes in it, could hide data in a file that opens.
    guard bytes.count == encodedSize else { throw .damagedVault("its index is too long") }
    try reader.zeros()
  }

  /// The length of the index before it is sealed.
  var encodedSize: Int {
    let size = entries.reduce(VaultLayout.indexFieldsSize) { $0 + $1.encodedSize }
    return VaultLayout.rounded(size, to: VaultLayout.indexStep)
  }

  /// The length of all items' values.
  var valuesLength: Int { entries.reduce(0) { $0 + $1.sealedSize } }

  /// Everything except the zeros at the end.
  func write(to writer: inout VaultWriter) {
    writer.put(valuesDigest)
    // Truncates nothing: `VaultDraft.checkLimits` has compared the number with the limit.
    writer.put(UInt32(truncatingIfNeeded: entries.count))
    for entry in entries { entry.write(to: &writer) }
  }
}

// MARK: - Entry

/// A vault index's entry for one secret.
///
/// | bytes | holds |
/// |---|---|
/// | 32 | salt, from which the value's key is derived |
/// | 8, 8 | when it was created, and changed, in microseconds since 1970 |
/// | 4 | length of the secret |
/// | 2, 2, 2, 2 | lengths of service, account and label, and the number of attributes |
/// | | service, account, label |
/// | | attributes: lengths of name and value (2, 2), name, value |
struct VaultEntry: Hashable, Sendable {
  var service: String
  var account: String
  var label: String
  /// Sorted by the names' bytes, each once.
  var attributes: [Attribute]
  var created: UInt64
  var modified: UInt64
  var salt: [UInt8]
  /// The length of the secret itself.
  var length: Int

  struct Attribute: Hashable, Sendable {
    var name: String
    var value: String
  }

  /// The number of its bytes in the values.
  var sealedSize: Int { VaultLayout.sealedSize(ofSecret: length) }
}

extension VaultEntry {
  /// Parses an entry.
  init(from reader: inout VaultReader) throws(SecretError) {
    salt = try reader.array(VaultLayout.saltSize)
    created = try reader.number()
    modified = try reader.number()
    length = try reader.count(UInt32.self, limit: VaultLayout.secretLimit)
    let serviceLength = try reader.count(UInt16.self, limit: VaultLayout.nameLimit)
    let accountLength = try reader.count(UInt16.self, limit: VaultLayout.nameLimit)
    let labelLength = try reader.count(UInt16.self, limit: VaultLayout.textLimit)
    let attributeCount = try reader.count(UInt16.self, limit: VaultLayout.attributeLimit)
    service = try reader.name(serviceLength)
    account = try reader.name(accountLength)
    label = try reader.text(labelLength)
    attributes = []
    for _ in 0..<attributeCount {
      let attribute = try Attribute(from: &reader)
      // Also refuses a name that occurs twice, of which one value would be lost in a dictionary.
      if let last = attributes.last, last.name.byteOrder(beside: attribute.name) >= 0 {
        throw .damagedVault("its attributes are not sorted")
      }
      attributes.append(attribute)
    }
  }

  /// The number of its bytes in the index.
  var encodedSize: Int {
    attributes.reduce(
      VaultLayout.itemFieldsSize + service.utf8.count + account.utf8.count + label.utf8.count
    ) { $0 + 4 + $1.name.utf8.count + $1.value.utf8.count }
  }

  /// Writes the entry. Requires strings within their limits, as ``SecretStore/check(_:_:)`` ensures.
  func write(to writer: inout VaultWriter) {
    writer.put(salt)
    writer.put(created)
    writer.put(modified)
    writer.put(UInt32(truncatingIfNeeded: length))
    for count in [service.utf8.count, account.utf8.count, label.utf8.count, attributes.count] {
      writer.put(UInt16(truncatingIfNeeded: count))
    }
    writer.put(service)
    writer.put(account)
    writer.put(label)
    for attribute in attributes { attribute.write(to: &writer) }
  }

  /// Whether it precedes another in an index.
  func precedes(_ other: VaultEntry) -> Bool {
    let order = service.byteOrder(beside: other.service)
    return order != 0 ? order < 0 : account.byteOrder(beside: other.account) < 0
  }
}

extension VaultEntry.Attribute {
  init(from reader: inout VaultReader) throws(SecretError) {
    let nameLength = try reader.count(UInt16.self, limit: VaultLayout.nameLimit)
    let valueLength = try reader.count(UInt16.self, limit: VaultLayout.textLimit)
    name = try reader.name(nameLength)
    value = try reader.text(valueLength)
  }

  func write(to writer: inout VaultWriter) {
    writer.put(UInt16(truncatingIfNeeded: name.utf8.count))
    writer.put(UInt16(truncatingIfNeeded: value.utf8.count))
    writer.put(name)
    writer.put(value)
  }
}

// MARK: - Order

extension String {
  /// Compares UTF-8 bytes: negative when they precede another string's, 0 when they are equal.
  ///
  /// `String`'s own order is that of Unicode's normal form. It treats some different bytes as equal, and another
  /// implementation of the format would have to reproduce it.
  func byteOrder(beside other: String) -> Int {
    let order = utf8.withContiguousStorageIfAvailable { one in
      other.utf8.withContiguousStorageIfAvailable { other in
        let common = min(one.count, other.count)
        // An empty string may have no address, which `memcmp` must not get.
        guard common > 0, let start = one.baseAddress, let otherStart = other.baseAddress else {
          return one.count - other.count
        }
        let order = memcmp(start, otherStart, common)
        return order != 0 ? Int(order) : one.count - other.count
      }
    }
    if let order = order ?? nil { return order }
    // Strings bridged from Objective-C have no contiguous storage.
    if utf8.elementsEqual(other.utf8) { return 0 }
    return utf8.lexicographicallyPrecedes(other.utf8) ? -1 : 1
  }
}
