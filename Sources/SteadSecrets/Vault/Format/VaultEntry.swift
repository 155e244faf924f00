/// A vault index's entry for one secret.
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

  /// Requires strings within their limits.
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
