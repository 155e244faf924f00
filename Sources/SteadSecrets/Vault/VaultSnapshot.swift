import Crypto
import Foundation
import SteadFiles

/// A vault's file at one moment, authenticated, with the secrets still encrypted.
final class VaultSnapshot: Sendable {
  let header: VaultHeader
  let entries: [VaultEntry]
  /// Where the entries' values begin in the file, followed by where the last one ends.
  let offsets: [Int]
  let data: Data
  private let file: OpenFile
  /// Keys of values that were read, by the entry's index. Deriving one takes as long as the rest of a read.
  private let keys = ForkSafeLock<[Int: SecretBytes]>([:])
  /// The maximum number of these keys, each in locked memory, of which a process has little.
  private static let keyLimit = 1024

  /// Makes a snapshot of a file that was opened and read.
  ///
  /// - Throws: ``SecretError``: `.corrupt` when it isn't authentic.
  init(
    _ data: Data, of file: OpenFile, header: VaultHeader, root: VaultRoot
  ) throws(SecretError) {
    let index = try Self.index(data, header, root)
    (self.data, self.file, self.header) = (data, file, header)
    (entries, offsets) = (index.entries, Self.offsets(index.entries, from: header.valuesRange))
  }

  /// Makes a snapshot of what was just written, without reading it again.
  init(writing data: Data, of file: OpenFile, header: VaultHeader, entries: [VaultEntry]) {
    (self.data, self.file, self.header) = (data, file, header)
    (self.entries, offsets) = (entries, Self.offsets(entries, from: header.valuesRange))
  }

  /// Prefix sums of the values' sizes: the format has no offsets, which could contradict the sizes.
  private static func offsets(_ entries: [VaultEntry], from values: Range<Int>) -> [Int] {
    var offsets = [values.lowerBound]
    offsets.reserveCapacity(entries.count + 1)
    for entry in entries { offsets.append((offsets.last ?? 0) + entry.sealedSize) }
    return offsets
  }

  /// Decrypts and parses the index, which authenticates everything else: the header as additional data, the
  /// values by their digest.
  private static func index(
    _ data: Data, _ header: VaultHeader, _ root: VaultRoot
  ) throws(SecretError) -> VaultIndex {
    let key = root.indexKey(header.writeSalt)
    // The whole header is additional data, also what a slot's own seal doesn't cover: the generation, the lengths,
    // and which slots there are.
    let opened = VaultCipher.open(data[header.indexRange], by: key, with: data[..<header.size])
    guard let opened else { throw .damagedVault("its index isn't authentic") }
    let index = try opened.withBytes { bytes throws(SecretError) in
      try VaultIndex(parsing: bytes, valuesLength: header.valuesLength)
    }
    // One digest instead of each value's tag: everything is authenticated when the vault is opened, and no
    // secret is decrypted for that.
    guard Crypto.SHA256.hash(data: data[header.valuesRange]).elementsEqual(index.valuesDigest)
    else { throw .damagedVault("its values aren't authentic") }
    return index
  }

  /// The status of the file that was read.
  var status: FileStatus { file.status }

  /// Whether the path still leads to the file that was read, unchanged.
  func isCurrent(_ status: FileStatus?) -> Bool { status == file.status }
}

extension VaultSnapshot {
  /// The index of an entry, or the one at which it would have to be inserted. Binary search.
  func search(for id: SecretID) -> (index: Int, isPresent: Bool) {
    let index = entries.firstIndex(notBefore: { $0.order(beside: id) < 0 })
    return (index, index < entries.count && entries[index].order(beside: id) == 0)
  }

  /// The indices of a service's entries, which are next to each other.
  func indices(service: String) -> Range<Int> {
    let start = entries.firstIndex(notBefore: { $0.service.byteOrder(beside: service) < 0 })
    var end = start
    // A step for each entry of the result, which the caller looks at anyway.
    while end < entries.count, entries[end].service.byteOrder(beside: service) == 0 { end += 1 }
    return start..<end
  }

  /// An entry's value as stored in the file.
  func sealedValue(at index: Int) -> Data { data[offsets[index]..<offsets[index + 1]] }

  /// Decrypts the secret of an entry.
  func secret(at index: Int, root: VaultRoot) throws(SecretError) -> SecretBytes {
    let entry = entries[index]
    let secret = VaultCipher.open(
      sealedValue(at: index), by: key(at: index, root: root),
      with: entry.additionalData(vaultID: header.id), keeping: entry.length)
    guard let secret else { throw .damagedVault("a value isn't authentic") }
    return secret
  }

  /// The key of an entry's value, from the cache if it was derived before.
  private func key(at index: Int, root: VaultRoot) -> SymmetricKey {
    if let known = keys.withLock({ $0[index] }) {
      return known.withBytes { SymmetricKey(data: $0) }
    }
    let key = root.valueKey(entries[index].salt)
    let kept = key.withUnsafeBytes { SecretBytes(copying: $0) }
    keys.withLock { keys in
      // An existing key stays: releasing it here could take another lock.
      if keys.count < Self.keyLimit, keys[index] == nil { keys[index] = kept }
    }
    return key
  }
}

extension VaultEntry {
  /// The data that is authenticated with the value.
  func additionalData(vaultID: [UInt8]) -> [UInt8] {
    let count = vaultID.count + 4 + service.utf8.count + account.utf8.count
    return [UInt8](unsafeUninitializedCapacity: count) { memory, initialized in
      var writer = VaultWriter(UnsafeMutableRawBufferPointer(memory))
      writer.put(vaultID)
      for name in [service, account] {
        // With their lengths: otherwise two pairs of names could have the same bytes.
        writer.put(UInt16(truncatingIfNeeded: name.utf8.count))
        writer.put(name)
      }
      initialized = writer.offset
    }
  }

  /// Negative when it precedes an item of a name, 0 when it has that name.
  fileprivate func order(beside id: SecretID) -> Int {
    let order = service.byteOrder(beside: id.service)
    return order != 0 ? order : account.byteOrder(beside: id.account)
  }
}

extension [VaultEntry] {
  /// The index of the first entry for which a predicate is false; it is true for all entries before.
  fileprivate func firstIndex(notBefore isBefore: (VaultEntry) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

// MARK: - Draft

/// The next version of a vault's file.
///
/// A write is a new file: header and index are written anew, and the values of unchanged items are copied, still
/// sealed. So a write decrypts no other item's secret.
struct VaultDraft {
  var slots: [VaultSlot]
  var generation: UInt64
  private let id: [UInt8]
  private(set) var entries: [VaultEntry]
  /// The entries' sealed values in order, in as few pieces as possible. Those of the old file are slices of
  /// its data.
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
    // Slices of the old file, which stays in memory with the snapshot: nothing is copied before the new file is
    // built.
    values = [
      snapshot.data[all.lowerBound..<snapshot.offsets[range.lowerBound]], sealed ?? Data(),
      snapshot.data[snapshot.offsets[range.upperBound]..<all.upperBound],
    ]
  }

  /// The bytes of the file, and its header.
  ///
  /// The parts depend on each other in this order: the values' digest is in the index, the header's is in the
  /// header, and the index is sealed with the whole header as additional data. Limits come first, before
  /// anything is allocated.
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
    // The whole length at once, so that the buffer is not copied while it grows.
    var data = Data(capacity: header.valuesRange.upperBound)
    // Zeros for header and index, which are written once the values are in place.
    data.append(Data(count: header.valuesRange.lowerBound))
    for value in values { data.append(value) }
    let digest = Crypto.SHA256.hash(data: data[header.valuesRange])
    index.valuesDigest = Array(digest)
    // The header before the index, whose additional data it is.
    data.withUnsafeMutableBytes { file in
      var writer = VaultWriter(file)
      header.write(to: &writer)
      let written = UnsafeRawBufferPointer(rebasing: file[..<writer.offset])
      writer.put(Array(Crypto.SHA256.hash(data: written)))
    }
    // In memory that is wiped: the index has the names in the clear. What isn't written stays zero, which is the
    // padding.
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
  /// Seals a secret for this entry, with the key of the entry's salt, which no other message has.
  ///
  /// It is padded with zeros, so that the file's length does not reveal a password's.
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
