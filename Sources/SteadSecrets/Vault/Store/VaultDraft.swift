import Crypto
import Foundation

/// The next version of a vault's file, which takes over what does not change.
struct VaultDraft {
  /// The values of some entries, as they are in the file.
  private enum Piece {
    case kept(Range<Int>)
    case sealed(Data)
  }

  var slots: [VaultSlot]
  var generation: UInt64
  private let id: [UInt8]
  private let old: Data
  private(set) var entries: [VaultEntry]
  private var pieces: [Piece]

  /// A new vault, without items.
  init(id: [UInt8], slots: [VaultSlot]) {
    (self.id, self.slots, generation) = (id, slots, 1)
    (old, entries, pieces) = (Data(), [], [])
  }

  /// What follows a version.
  init(after snapshot: VaultSnapshot) throws(SecretError) {
    id = snapshot.header.id
    slots = snapshot.header.slots
    (old, entries) = (snapshot.data, snapshot.entries)
    pieces = [.kept(snapshot.header.valuesRange)]
    generation = try snapshot.header.generation.nextGeneration()
  }

  /// Takes out an entry or puts one in; once for each draft.
  mutating func change(
    _ snapshot: VaultSnapshot, at range: Range<Int>, to entry: VaultEntry?, sealed: Data?
  ) {
    let values = snapshot.header.valuesRange
    entries.replaceSubrange(range, with: entry.map { [$0] } ?? [])
    pieces = [.kept(values.lowerBound..<snapshot.offsets[range.lowerBound])]
    if let sealed { pieces.append(.sealed(sealed)) }
    pieces.append(.kept(snapshot.offsets[range.upperBound]..<values.upperBound))
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
    for piece in pieces {
      switch piece {
      case .kept(let range): data.append(old[range])
      case .sealed(let sealed): data.append(sealed)
      }
    }
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
        code: .tooLarge(limit: VaultLayout.fileLimit),
        message: "The vault is full: it takes \(VaultLayout.itemLimit) items and "
          + "\(VaultLayout.fileLimit) bytes in all. Remove items, or keep them in another vault.")
    }
  }
}

extension VaultEntry {
  /// Seals a secret for this entry, by a key that no other secret has.
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
  /// The generation after this one, which there is for as long as the sun will shine.
  func nextGeneration() throws(SecretError) -> UInt64 {
    let (next, overflow) = addingReportingOverflow(1)
    guard !overflow else {
      throw SecretError(
        code: .failed, message: "The vault cannot be written again. Move its items to a new one.")
    }
    return next
  }
}
