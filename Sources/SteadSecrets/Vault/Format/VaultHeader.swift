/// The readable part of a vault file.
///
/// | offset | bytes | holds |
/// |---|---|---|
/// | 0 | 8 | `SteadVlt` |
/// | 8 | 4 | version: 1 |
/// | 12 | 4 | zero |
/// | 16 | 16 | vault id |
/// | 32 | 8 | generation |
/// | 40 | 8 | length of the sealed index |
/// | 48 | 8 | length of the values |
/// | 56 | 32 | write salt |
/// | 88 | 4 | S: number of slots |
/// | 92 | 4 | zero |
/// | 96 | 152 S | slots: ``VaultSlot`` |
/// | 96 + 152 S | 32 | SHA-256 of all bytes before it |
///
/// Once parsed, its numbers are within their limits and add up to the file's length. It isn't authentic yet:
/// that is known when the index has been opened, whose additional data it is.
struct VaultHeader: Hashable, Sendable {
  /// Random, drawn when the vault is created.
  var id: [UInt8]
  /// 1 in a new vault, and higher after each write.
  var generation: UInt64
  var indexLength: Int
  var valuesLength: Int
  /// Random, drawn for each write; the index's key is derived with it.
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
    // First: later sums of lengths are compared with this one, and cannot overflow.
    guard file.count <= VaultLayout.fileLimit else {
      throw .damagedVault("it is larger than a vault can be")
    }
    guard try reader.take(VaultLayout.magic.count).elementsEqual(VaultLayout.magic) else {
      throw .damagedVault("it does not begin like a vault")
    }
    let version = try reader.number(UInt32.self)
    // Before any other number, whose meaning and offset a newer version may have changed.
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
    // Reserved fields must be zero: a later version may use them, and this one would drop what they
    // mean.
    guard slotCount > 0, try reader.number(UInt32.self) == 0 else {
      throw .damagedVault("it has no key slot")
    }
    slots = []
    // The limit on their number was checked: at most 16 turns, whatever the file declares.
    for _ in 0..<slotCount { slots.append(try VaultSlot(from: &reader)) }
    // Each passphrase may be tried before one opens the vault, and nothing is authentic so far: without this
    // limit a file could keep whoever opens it busy for a minute.
    guard VaultSlot.work(of: slots) <= VaultScrypt.totalWorkLimit else {
      throw .damagedVault("its passphrases together exceed the cost limit")
    }
    // From here on the ranges of index and values lie within the file, so slicing them cannot trap.
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
    // Written by the code that writes the file, so that the two cannot differ. Only the id counts.
    let header = VaultHeader(
      id: id, generation: 0, indexLength: 0, valuesLength: 0, writeSalt: [], slots: [])
    return [UInt8](unsafeUninitializedCapacity: VaultLayout.prologueSize) { memory, count in
      var writer = VaultWriter(UnsafeMutableRawBufferPointer(memory))
      header.writePrologue(to: &writer)
      count = writer.offset
    }
  }
}
