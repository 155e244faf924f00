import Crypto
import Foundation
import SteadFiles

/// A vault's file as it was at one moment, authenticated, with the secrets still encrypted.
final class VaultSnapshot: Sendable {
  let header: VaultHeader
  let entries: [VaultEntry]
  /// Where the entries' values begin in the file, and behind them where the last one ends.
  let offsets: [Int]
  let data: Data
  private let file: OpenFile

  /// What is in a file that was opened and read.
  ///
  /// - Throws: ``SecretError``: `.corrupt` when it is not authentic.
  init(
    _ data: Data, of file: OpenFile, header: VaultHeader, root: VaultRoot
  ) throws(SecretError) {
    let index = try Self.index(data, header, root)
    (self.data, self.file, self.header) = (data, file, header)
    (entries, offsets) = (index.entries, Self.offsets(index.entries, from: header.valuesRange))
  }

  /// What was just written, and is not read again.
  init(writing data: Data, of file: OpenFile, header: VaultHeader, entries: [VaultEntry]) {
    (self.data, self.file, self.header) = (data, file, header)
    (self.entries, offsets) = (entries, Self.offsets(entries, from: header.valuesRange))
  }

  private static func offsets(_ entries: [VaultEntry], from values: Range<Int>) -> [Int] {
    var offsets = [values.lowerBound]
    offsets.reserveCapacity(entries.count + 1)
    for entry in entries { offsets.append((offsets.last ?? 0) + entry.sealedSize) }
    return offsets
  }

  private static func index(
    _ data: Data, _ header: VaultHeader, _ root: VaultRoot
  ) throws(SecretError) -> VaultIndex {
    let key = root.indexKey(header.writeSalt)
    let opened = VaultCipher.open(data[header.indexRange], by: key, with: data[..<header.size])
    guard let opened else { throw .damagedVault("its index is not authentic") }
    let index = try opened.withBytes { bytes throws(SecretError) in
      try VaultIndex(parsing: bytes, valuesLength: header.valuesLength)
    }
    guard Crypto.SHA256.hash(data: data[header.valuesRange]).elementsEqual(index.valuesDigest)
    else { throw .damagedVault("its values are not authentic") }
    return index
  }

  /// Whether the path still leads to the file that was read, unchanged.
  func isCurrent(_ status: FileStatus?) -> Bool { status == file.status }
}

extension VaultSnapshot {
  /// Where an entry is, or would have to be put.
  func position(of id: SecretID) -> (index: Int, isThere: Bool) {
    let index = entries.firstIndex(notBefore: {
      $0.isBefore(service: id.service, account: id.account)
    })
    let isThere = index < entries.count && entries[index].names(id)
    return (index, isThere)
  }

  /// Which entries are a service's.
  func positions(service: String) -> Range<Int> {
    let start = entries.firstIndex(notBefore: { $0.service.bytesPrecede(service) })
    var end = start
    while end < entries.count, entries[end].service.utf8.elementsEqual(service.utf8) { end += 1 }
    return start..<end
  }

  /// An entry's value as it is in the file.
  func sealedValue(at index: Int) -> Data { data[offsets[index]..<offsets[index + 1]] }

  /// The secret of an entry.
  func secret(at index: Int, root: VaultRoot) throws(SecretError) -> SecretBytes {
    let entry = entries[index]
    let opened = VaultCipher.open(
      sealedValue(at: index), by: root.valueKey(entry.salt),
      with: entry.additionalData(vaultID: header.id))
    guard let opened, opened.count >= entry.length else {
      throw .damagedVault("a value is not authentic")
    }
    return opened.withBytes { bytes in
      SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[..<entry.length]))
    }
  }
}

extension VaultEntry {
  /// What is authenticated with the value.
  func additionalData(vaultID: [UInt8]) -> [UInt8] {
    let count = vaultID.count + 4 + service.utf8.count + account.utf8.count
    return [UInt8](unsafeUninitializedCapacity: count) { memory, initialized in
      var writer = VaultWriter(UnsafeMutableRawBufferPointer(memory))
      writer.put(vaultID)
      for name in [service, account] {
        writer.put(UInt16(truncatingIfNeeded: name.utf8.count))
        writer.put(name)
      }
      initialized = writer.offset
    }
  }

  fileprivate func names(_ id: SecretID) -> Bool {
    service.utf8.elementsEqual(id.service.utf8) && account.utf8.elementsEqual(id.account.utf8)
  }

  fileprivate func isBefore(service other: String, account otherAccount: String) -> Bool {
    if service.utf8.elementsEqual(other.utf8) { return account.bytesPrecede(otherAccount) }
    return service.bytesPrecede(other)
  }
}

extension [VaultEntry] {
  /// The index of the first entry that a test does not hold for; it holds up to some entry.
  fileprivate func firstIndex(notBefore isBefore: (VaultEntry) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
