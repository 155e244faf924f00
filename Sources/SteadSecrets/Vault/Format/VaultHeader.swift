/// The readable part of a vault file.
///
/// Once parsed, its numbers are within their limits and add up to the file's length; whether it is authentic
/// is a separate question.
struct VaultHeader: Hashable, Sendable {
  var id: [UInt8]
  var generation: UInt64
  var indexLength: Int
  var valuesLength: Int
  var writeSalt: [UInt8]
  var slots: [VaultSlot]

  /// The length of the header, including its digest.
  var size: Int { VaultLayout.headerSize(slots: slots.count) }
  /// Where the sealed index is in the file.
  var indexRange: Range<Int> { size..<size + indexLength }
  /// Where the values are in the file.
  var valuesRange: Range<Int> { size + indexLength..<size + indexLength + valuesLength }

  init(
    id: [UInt8], generation: UInt64, indexLength: Int, valuesLength: Int, writeSalt: [UInt8],
    slots: [VaultSlot]
  ) {
    (self.id, self.generation, self.writeSalt, self.slots) = (id, generation, writeSalt, slots)
    (self.indexLength, self.valuesLength) = (indexLength, valuesLength)
  }

  /// Parses the header of a file whose bytes are all given.
  ///
  /// - Throws: ``SecretError``: `.corrupt`, or `.newerVersion`.
  init(parsing file: UnsafeRawBufferPointer) throws(SecretError) {
    var reader = VaultReader(file)
    guard file.count <= VaultLayout.fileLimit else {
      throw .damagedVault("it is larger than a vault can be")
    }
    guard try reader.take(VaultLayout.magic.count).elementsEqual(VaultLayout.magic) else {
      throw .damagedVault("it does not begin like a vault")
    }
    let version = try reader.number(UInt32.self)
    guard version <= VaultLayout.version else {
      throw SecretError(
        code: .newerVersion,
        message: "The vault's file has version \(version), and this library knows version "
          + "\(VaultLayout.version). Use a newer version of the library.")
    }
    guard version == VaultLayout.version, try reader.number(UInt32.self) == 0 else {
      throw .damagedVault("its version does not exist")
    }
    id = try reader.array(VaultLayout.idSize)
    generation = try reader.number()
    indexLength = try reader.count(UInt64.self, limit: VaultLayout.indexLimit)
    valuesLength = try reader.count(UInt64.self, limit: VaultLayout.fileLimit)
    writeSalt = try reader.array(VaultLayout.saltSize)
    let slotCount = try reader.count(UInt32.self, limit: VaultLayout.slotLimit)
    guard slotCount > 0, try reader.number(UInt32.self) == 0 else {
      throw .damagedVault("it has no key slot")
    }
    slots = []
    for _ in 0..<slotCount { slots.append(try VaultSlot(from: &reader)) }
    guard VaultSlot.work(of: slots) <= VaultScrypt.totalWorkLimit else {
      throw .damagedVault("its passphrases together exceed the cost limit")
    }
    guard size + indexLength + valuesLength == file.count else {
      throw .damagedVault("its length isn't the declared one")
    }
  }

  /// Writes the header without its digest, which follows it.
  func write(to writer: inout VaultWriter) {
    writePrologue(to: &writer)
    writer.put(generation)
    writer.put(UInt64(indexLength))
    writer.put(UInt64(valuesLength))
    writer.put(writeSalt)
    writer.put(UInt32(slots.count))
    writer.put(UInt32(0))
    for slot in slots { slot.write(to: &writer) }
  }

  private func writePrologue(to writer: inout VaultWriter) {
    writer.put(VaultLayout.magic)
    writer.put(VaultLayout.version)
    writer.put(UInt32(0))
    writer.put(id)
  }

  /// The part that never changes in the life of the vault, authenticated with each slot.
  static func prologue(id: [UInt8]) -> [UInt8] {
    let header = VaultHeader(
      id: id, generation: 0, indexLength: 0, valuesLength: 0, writeSalt: [], slots: [])
    return [UInt8](unsafeUninitializedCapacity: VaultLayout.prologueSize) { memory, count in
      var writer = VaultWriter(UnsafeMutableRawBufferPointer(memory))
      header.writePrologue(to: &writer)
      count = writer.offset
    }
  }
}
