import Crypto
import Foundation
import Testing

@testable import SteadSecrets

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

  @Test func theExampleIsWhatThisPackageMakes() throws {
    #expect(try specification.file().hexadecimal == file.hexadecimal)
  }

  @Test func theExampleOpensWithBothKeys() throws {
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
  func theExampleIsWhatTheIndependentProgramMakes() throws {
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
  func scryptIsThatOfTheStandard(
    passphrase: String, salt: String, logN: Int, r: Int, p: Int, expected: String
  ) throws {
    let cost = try #require(VaultScrypt(logN: logN, r: r, p: p))
    let key = try cost.derive(SecretBytes(passphrase), salt: Array(salt.utf8), count: 64)
    #expect(key.withUnsafeBytes { Data($0) } == Data(hexadecimal: expected))
  }

  /// Limits of the format are those of the calls, so that whatever a call takes can be kept.
  @Test func limitsAgree() {
    #expect(VaultLayout.nameLimit == SecretID.nameLimit)
    #expect(VaultLayout.textLimit == SecretStoreWrite.textLimit)
    #expect(VaultLayout.attributeLimit == SecretStoreWrite.attributeLimit)
  }
}
