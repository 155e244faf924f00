import Crypto
import Foundation

/// The next version of a vault's file, which reuses what does not change.
struct VaultDraft {
  var slots: [VaultSlot]
  var generation: UInt64
  private let id: [UInt8]
  private(set) var entries: [VaultEntry]
  /// The entries' values in order, in as few pieces as possible; old ones are parts of the old file.
  private var values: [Data]

  /// A new vault.
  init(id: [UInt8], slots: [VaultSlot], entries: [VaultEntry] = [], values: [Data] = []) {
    (self.id, self.slots, generation) = (id, slots, 1)
    (self.entries, self.values) = (entries, values)
  }

  /// Makes the successor of a version, with the same entries.
  init(after snapshot: VaultSnapshot) throws(SecretError) {
    id = snapshot.header.id
    slots = snapshot.header.slots
    entries = snapshot.entries
    values = [snapshot.data[snapshot.header.valuesRange]]
    generation = try snapshot.header.generation.nextGeneration()
  }

  /// Makes the successor of a version, replacing some entries with another, or removing them.
  init(
    after snapshot: VaultSnapshot, replacing range: Range<Int>, with entry: VaultEntry? = nil,
    sealed: Data? = nil
  ) throws(SecretError) {
    try self.init(after: snapshot)
    let all = snapshot.header.valuesRange
    entries.replaceSubrange(range, with: entry.map { [$0] } ?? [])
    values = [
      snapshot.data[all.lowerBound..<snapshot.offsets[range.lowerBound]], sealed ?? Data(),
      snapshot.data[snapshot.offsets[range.upperBound]..<all.upperBound],
    ]
  }

  /// The file, and its header.
  ///
  /// - Throws: ``SecretError``: `.tooLarge` when the vault is full.
  func file(
    root: VaultRoot, writeSalt: [UInt8] = .random(count: VaultLayout.saltSize)
  ) throws(SecretError) -> (Data, VaultHeader) {
    var index = VaultIndex(valuesDigest: [], entries: entries)
    let indexSize = index.encodedSize
    let header = VaultHeader(
      id: id, generation: generation, indexLength: indexSize + VaultLayout.tagSize,
      valuesLength: index.valuesLength, writeSalt: writeSalt, slots: slots)
    try checkLimits(header)
    var data = Data(capacity: header.valuesRange.upperBound)
    data.append(Data(count: header.valuesRange.lowerBound))
    for value in values { data.append(value) }
    let digest = Crypto.SHA256.hash(data: data[header.valuesRange])
    index.valuesDigest = Array(digest)
    data.withUnsafeMutableBytes { file in
      var writer = VaultWriter(file)
      header.write(to: &writer)
      let written = UnsafeRawBufferPointer(rebasing: file[..<writer.offset])
      writer.put(Array(Crypto.SHA256.hash(data: written)))
    }
    let plain = SecretBytes(count: indexSize) { memory in
      var writer = VaultWriter(memory)
      index.write(to: &writer)
    }
    let sealed = try plain.withBytes { (bytes) throws(SecretError) in
      try VaultCipher.seal(
        bytes, by: root.indexKey(writeSalt), with: Array(data[..<header.size]))
    }
    data.replaceSubrange(header.indexRange, with: sealed)
    return (data, header)
  }

  private func checkLimits(_ header: VaultHeader) throws(SecretError) {
    let size = header.size + header.indexLength + header.valuesLength
    guard size <= VaultLayout.fileLimit, header.indexLength <= VaultLayout.indexLimit,
      entries.count <= VaultLayout.itemLimit
    else {
      throw SecretError(
        code: .tooLarge,
        message: "The vault is full: it holds \(VaultLayout.itemLimit) items and "
          + "\(VaultLayout.fileLimit) bytes in all. Remove items, or keep them in another vault.")
    }
  }
}

extension VaultEntry {
  /// Seals a secret for this entry, with a key that no other secret has.
  func seal(_ secret: SecretBytes, root: VaultRoot, vaultID: [UInt8]) throws(SecretError) -> Data {
    let size = sealedSize - VaultLayout.tagSize
    let padded = SecretBytes(count: size) { memory in
      secret.withBytes { memory.copyMemory(from: $0) }
    }
    return try padded.withBytes { (bytes) throws(SecretError) in
      try VaultCipher.seal(
        bytes, by: root.valueKey(salt), with: additionalData(vaultID: vaultID))
    }
  }
}

extension UInt64 {
  /// The generation after this one. A 64-bit counter does not overflow in practice.
  func nextGeneration() throws(SecretError) -> UInt64 {
    let (next, overflow) = addingReportingOverflow(1)
    guard !overflow else {
      throw SecretError(
        code: .failed, message: "The vault cannot be written again. Move its items to a new one.")
    }
    return next
  }
}
