import Crypto
import Foundation
@testable import SteadSecrets
import Testing

/// The page that draws the file, and what it gives as an example.
@Suite struct VaultDocumentTests {
  private static let page = URL(filePath: #filePath).resolvingSymlinksInPath()
    .deletingLastPathComponent().appending(path: "../../../Documentation/VaultFile.md")

  private let specification: VaultSpecification
  private let file: Data

  init() throws {
    let page = try String(contentsOf: Self.page, encoding: .utf8)
    let example = try #require(page.components(separatedBy: "## Test vector").last)
    let blocks = example.components(separatedBy: "```")
    try #require(blocks.count == 5)
    specification = try JSONDecoder().decode(
      VaultSpecification.self, from: Data(blocks[1].dropFirst("json".count).utf8))
    file = Data(hexadecimal: blocks[3])
  }

  @Test func `the example is what this package makes`() throws {
    #expect(try specification.file().hexadecimal == file.hexadecimal)
  }

  @Test func `the example opens with both keys`() throws {
    let place = try TestVault()
    try place.put(file, Data(hexadecimal: specification.slots[0].key))
    for key in [VaultKey.keyFile(place.keyFile), TestVault.passphrase("correct horse")] {
      let vault = try place.open(key, .open)
      #expect(try vault.text("anna") == "geheim")
      #expect(try vault.text("zoé")?.isEmpty == true)
      let item = try #require(try vault.items(service: "mail").last)
      #expect(item.attributes == ["port": "", "server": "mx"])
      #expect(item.modified == Date(timeIntervalSince1970: 1_795_298_400.000005))
      #expect(try vault.keySlots.map(\.kind) == [.keyFile, .passphrase])
    }
  }

  @Test(.needs(.cryptography))
  func `the example is what the independent program makes`() throws {
    let place = try TestVault()
    let (made, wanted) = (place.directory.file("made"), place.directory.file("specification"))
    try JSONEncoder().encode(specification).write(to: wanted)
    _ = try IndependentProgram.call(["make", made.filePath, wanted.filePath])
    #expect(try Data(contentsOf: made) == file)
  }

  /// The vectors of RFC 7914, section 12, but for the last, which takes a gigabyte.
  @Test(arguments: [
    (
      "pleaseletmein", "SodiumChloride", 14, 8, 1,
      """
      7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2
      d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887
      """
    ),
    (
      "password", "NaCl", 10, 8, 16,
      """
      fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162
      2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640
      """
    ),
  ])
  func `scrypt is that of the standard`(
    passphrase: String, salt: String, logN: Int, r: Int, p: Int, expected: String
  ) throws {
    let cost = try #require(VaultScrypt(logN: logN, r: r, p: p))
    let key = try cost.derive(SecretBytes(passphrase), salt: Array(salt.utf8), count: 64)
    #expect(key.withUnsafeBytes { Data($0) } == Data(hexadecimal: expected))
  }

  /// Limits of the format are those of the calls, so that whatever a call takes can be kept.
  @Test func `limits agree`() {
    #expect(VaultLayout.nameLimit == SecretID.nameLimit)
    #expect(VaultLayout.textLimit == SecretStoreWrite.textLimit)
    #expect(VaultLayout.attributeLimit == SecretStoreWrite.attributeLimit)
  }
}

// MARK: - The page's tables

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
