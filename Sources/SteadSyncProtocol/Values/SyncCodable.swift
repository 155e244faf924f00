/// A value with its own encoding: JSON that is byte for byte the same for equal values.
///
/// Documentation/SyncProtocol.md describes each. Decoding never traps on any bytes. It ignores unknown members, and
/// ``Record`` keeps them.
package protocol SyncCodable {
  /// Reads a value. Throws ``SyncCodingError``.
  init(syncValue: SyncValue) throws(SyncCodingError)
  /// The value as JSON has it.
  var syncValue: SyncValue { get }
  /// Compact JSON in UTF-8: the bytes of ``syncValue``. Costs time in proportion to its size.
  func encoded() -> [UInt8]
}

extension SyncCodable {
  /// Reads JSON in UTF-8. Costs time and memory in proportion to the bytes; limit them before. Throws
  /// ``SyncCodingError``.
  package init(encoded bytes: some Collection<UInt8>) throws(SyncCodingError) {
    try self.init(syncValue: JSONReader.value(Array(bytes)))
  }

  package func encoded() -> [UInt8] { JSONWriter.bytes(syncValue) }
}

extension SyncValue: SyncCodable {
  package init(syncValue: SyncValue) { self = syncValue }
  package var syncValue: SyncValue { self }
}

/// Reads a list of values with an encoding.
extension Array: SyncCodable where Element: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    guard let values = syncValue.array else {
      throw SyncCodingError(.unexpected, "A list of \(Element.self) isn't an array.")
    }
    var elements: [Element] = []
    elements.reserveCapacity(values.count)
    for value in values { elements.append(try Element(syncValue: value)) }
    self = elements
  }

  package var syncValue: SyncValue { .array(map(\.syncValue)) }
}
