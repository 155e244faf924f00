import Foundation

@testable import SteadSecrets

/// Everything that goes into a vault, with what is drawn at random otherwise.
struct VaultSpecification: Codable {
  struct Slot: Codable {
    var kind: UInt32
    var cost: [Int]?
    var key: String
    var id: String
    var created: UInt64
    var salt: String
  }

  struct Item: Codable {
    var service: String
    var account: String
    var label: String
    var attributes: [String: String]
    var created: UInt64
    var modified: UInt64
    var salt: String
    var secret: String
  }

  var id: String
  var generation: UInt64
  var root: String
  var writeSalt: String
  var slots: [Slot]
  var items: [Item]

  /// The vault's file as this package makes it.
  func file() throws -> Data {
    let root = VaultRoot(SecretBytes(Data(hexadecimal: root)))
    let id = [UInt8](hexadecimal: id)
    var draft = VaultDraft(
      id: id, slots: try slots.map { try $0.sealed(root, id) }, entries: items.map(\.entry),
      values: try items.map {
        try $0.entry.seal(SecretBytes($0.secretData), root: root, vaultID: id)
      })
    draft.generation = generation
    return try draft.file(root: root, writeSalt: [UInt8](hexadecimal: writeSalt)).0
  }
}

extension VaultSpecification.Slot {
  fileprivate func sealed(_ root: VaultRoot, _ vaultID: [UInt8]) throws -> VaultSlot {
    guard let kind = VaultKeySlot.Kind(rawValue: kind) else { throw CocoaError(.coderReadCorrupt) }
    return try VaultSlot.sealing(
      root, of: vaultID, kind: kind,
      scrypt: cost.flatMap { VaultScrypt(logN: $0[0], r: $0[1], p: $0[2]) },
      material: SecretBytes(Data(hexadecimal: key)), id: [UInt8](hexadecimal: id),
      salt: [UInt8](hexadecimal: salt), created: created)
  }
}

extension VaultSpecification.Item {
  var secretData: Data { Data(hexadecimal: secret) }

  var entry: VaultEntry {
    VaultEntry(
      service: service, account: account, label: label,
      attributes: attributes.sorted { $0.key < $1.key }.map {
        VaultEntry.Attribute(name: $0.key, value: $0.value)
      },
      created: created, modified: modified, salt: [UInt8](hexadecimal: salt),
      length: secretData.count)
  }
}

extension [UInt8] {
  init(hexadecimal text: String) { self.init(Data(hexadecimal: text)) }
}

extension Data {
  /// Bytes from their digits; other characters are passed over.
  init(hexadecimal text: String) {
    let digits = text.compactMap(\.hexDigitValue).map(UInt8.init)
    self.init(
      stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
  }

  var hexadecimal: String {
    map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
