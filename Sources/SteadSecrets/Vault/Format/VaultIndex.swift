/// The contents of a vault, without the secrets.
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
    // No more than so many bytes can hold.
    entries.reserveCapacity(min(count, bytes.count / VaultLayout.itemFieldsSize))
    var end = 0
    for _ in 0..<count {
      let entry = try VaultEntry(from: &reader)
      if let last = entries.last, !last.precedes(entry) {
        throw .damagedVault("its items are not sorted")
      }
      end += entry.sealedSize
      guard end <= valuesLength else { break }
      entries.append(entry)
    }
    guard end == valuesLength else {
      throw .damagedVault("its values' length isn't the declared one")
    }
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
    writer.put(UInt32(truncatingIfNeeded: entries.count))
    for entry in entries { entry.write(to: &writer) }
  }
}
