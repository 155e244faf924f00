import Foundation
@testable import SteadSecrets
import Testing

/// Vaults between this package and a program that was written from the documentation alone.
@Suite(.needs(.cryptography))
struct VaultExchangeTests {
  private struct Found: Decodable {
    struct Item: Decodable {
      var service: String
      var account: String
      var label: String
      var attributes: [String: String]
      var secret: String
    }
    var generation: Int
    var items: [Item]
  }

  private let place: TestVault

  init() throws { place = try TestVault() }

  private func opened(_ kind: Int, _ key: Data) throws -> Found {
    let output = try IndependentProgram.call(
      ["open", place.url.filePath, "\(kind)", key.hexadecimal])
    return try JSONDecoder().decode(Found.self, from: output)
  }

  @Test func `the program opens our vault`() throws {
    let vault = try place.open()
    var random = SplitMix(seed: 7)
    var secrets: [String: Data] = [:]
    for length in [0, 1, 14, 63, 64, 65, 300, 100_000] {
      let secret = Data((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) })
      let account = "é\(length)"
      try vault.write(
        SecretBytes(secret), for: SecretID(service: "web", account: account),
        SecretStoreWrite(label: "€ \(length)", attributes: ["a": "1", "ß": "zwei"]))
      secrets[account] = secret
    }
    try vault.remove(SecretID(service: "web", account: "é63"))
    secrets["é63"] = nil
    try vault.addKey(TestVault.passphrase("Fuß"))
    for (kind, key) in [(2, try Data(contentsOf: place.keyFile)), (1, Data("Fuß".utf8))] {
      let found = try opened(kind, key)
      #expect(found.generation == 11)
      #expect(
        secrets
          == Dictionary(
            uniqueKeysWithValues: found.items.map {
              ($0.account, Data(hexadecimal: $0.secret))
            }))
      #expect(found.items.allSatisfy { $0.attributes == ["a": "1", "ß": "zwei"] })
      #expect(found.items.allSatisfy { $0.label == "€ \($0.account.dropFirst())" })
    }
  }

  @Test func `we open and continue the program's vault`() throws {
    var random = SplitMix(seed: 8)
    func bytes(_ count: Int) -> String {
      Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }).hexadecimal
    }
    let key = bytes(40)
    let items = ["z", "a", "ä", "a b"].map { account in
      VaultSpecification.Item(
        service: "web", account: account, label: "L \(account)", attributes: ["k": account],
        created: 5, modified: 6, salt: bytes(32), secret: bytes(account.utf8.count * 60))
    }
    let specification = VaultSpecification(
      id: bytes(16), generation: 300, root: bytes(32), writeSalt: bytes(32),
      slots: [.init(kind: 2, key: key, id: bytes(16), created: 4, salt: bytes(32))], items: items)
    let (made, wanted) = (place.directory.file("made"), place.directory.file("specification"))
    try JSONEncoder().encode(specification).write(to: wanted)
    _ = try IndependentProgram.call(["make", made.filePath, wanted.filePath])
    try place.put(Data(contentsOf: made), Data(hexadecimal: key))

    let vault = try place.open(.open)
    for item in items {
      let id = try SecretID(service: "web", account: item.account)
      #expect(try vault.bytes(for: id) == SecretBytes(item.secretData))
      #expect(try vault.item(for: id)?.label == item.label)
    }
    #expect(try vault.items(service: "web").map(\.account) == ["a", "a b", "z", "ä"])
    try vault.set("neu", "b", service: "web")
    let found = try opened(2, Data(hexadecimal: key))
    #expect(found.generation == 301)
    #expect(found.items.map(\.account) == ["a", "a b", "b", "z", "ä"])
  }

  /// One who does not have the key learns nothing from the program either.
  @Test func `the program refuses a wrong key`() throws {
    try place.open().set("geheim", "anna")
    let failure = #expect(throws: ToolRun.Failure.self) { _ = try opened(2, Data(count: 32)) }
    #expect(failure?.description.contains("no slot for this key") == true)
  }
}

// MARK: - The other program

/// The program `vault.py`, which knows vaults from their documentation alone.
enum IndependentProgram {
  /// The first Python that has the package `cryptography`; nil where there is none.
  static let python: String? = ["python3", "/usr/bin/python3"].first {
    (try? ToolRun([$0, "-c", "import cryptography"]))?.status == 0
  }

  private static let source = URL(filePath: #filePath).resolvingSymlinksInPath()
    .deletingLastPathComponent().file("vault.py")

  /// Runs it, and returns what it printed.
  static func call(_ arguments: [String]) throws -> Data {
    Data(try ToolRun.text([python ?? "python3", source.filePath] + arguments).utf8)
  }
}

extension Requirement {
  static let cryptography = Requirement(
    IndependentProgram.python != nil, orElse: "no Python has `cryptography`: install it")
}
