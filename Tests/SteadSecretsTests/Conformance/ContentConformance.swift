import Foundation
import SteadSecrets
import Testing

/// Which names and which secrets every store takes.
@Suite struct ContentConformance {
  private static let names = [
    "a", " ", "a b", "a/b", "../a", "/", ".", "a\nb", "\t", "a\"b'c\\", "%41", "ÄÖÜ", "日本語", "🔑",
    // The same to a reader, and two names by their bytes.
    "caf\u{E9}", "cafe\u{301}", "\u{202E}a", "null", "-1", "{\"a\":1}", "a=b&c",
    String(repeating: "n", count: SecretID.nameLimit), String(repeating: "é", count: 512),
  ]

  @Test(arguments: TestedStore.all)
  func `takes unusual names of accounts`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let secrets = try place.secrets()
    for (index, name) in Self.names.enumerated() { try secrets.insert("\(index)", for: name) }
    let again = try place.secrets()
    for (index, name) in Self.names.enumerated() {
      #expect(try again.string(for: name) == "\(index)")
      let account = try #require(try again.item(for: name)?.account)
      #expect(Array(account.utf8) == Array(name.utf8))
    }
    #expect(try again.accounts().count == Self.names.count)
    #expect(try again.remove("cafe\u{301}"))
    #expect(try again.contains("caf\u{E9}"))
    #expect(try again.removeAll() == Self.names.count - 1)
  }

  @Test(arguments: TestedStore.all)
  func `takes unusual names of services`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let store = try place.open()
    for (index, name) in Self.names.enumerated() {
      try Secrets(service: name, store: store).insert("\(index)", for: "account")
    }
    for (index, name) in Self.names.enumerated() {
      let secrets = try place.secrets(name)
      #expect(try secrets.string(for: "account") == "\(index)")
      #expect(try secrets.items().map { Array($0.service.utf8) } == [Array(name.utf8)])
    }
    #expect(try place.secrets("cafe\u{301}").removeAll() == 1)
    #expect(try place.secrets("caf\u{E9}").contains("account"))
  }

  @Test(arguments: TestedStore.all)
  func `tells an empty secret from none`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let secrets = try place.secrets()
    try secrets.set("", for: "text")
    try secrets.insert(Data(), for: "data")
    #expect(try secrets.string(for: "text") == "")
    #expect(try secrets.data(for: "data") == Data())
    #expect(try secrets.contains("data"))
    #expect(throws: SecretError.self) { try secrets.insert("", for: "text") }
    try secrets.replace("", with: "full", for: "text")
    try secrets.replace("full", with: "", for: "text")
    #expect(try secrets.bytes(for: "text")?.count == 0)
  }

  @Test(arguments: TestedStore.all)
  func `keeps every byte`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let secrets = try place.secrets()
    let all = Data((0...255).map { UInt8($0) } + [0, 0])
    try secrets.set(all, for: "all")
    try secrets.set(Data(repeating: 0, count: 64), for: "zeros")
    #expect(try secrets.data(for: "all") == all)
    #expect(try secrets.data(for: "zeros") == Data(repeating: 0, count: 64))
    let error = #expect(throws: SecretError.self) { try secrets.string(for: "all") }
    #expect(error?.code == .notDecodable)
    #expect(error?.account == "all")
  }

  /// Made once, since random megabytes take a second.
  private static let secretsOfManySizes: [Int: Data] = {
    var random = SplitMix(seed: 4)
    var secrets: [Int: Data] = [:]
    for size in [1, 15, 16, 17, 63, 64, 65, 255, 4095, 4096, 4097, 65_537, 1_000_000, 1 << 20] {
      secrets[size] = Data((0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    }
    return secrets
  }()

  @Test(arguments: TestedStore.all)
  func `takes secrets of many sizes`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let secrets = try place.secrets()
    let kept = Self.secretsOfManySizes
    for (size, data) in kept { try secrets.set(data, for: "\(size)") }
    let again = try place.secrets()
    for (size, data) in kept { #expect(try again.data(for: "\(size)") == data) }
    // Larger to smaller, and back.
    try secrets.set(Data([1]), for: "1048576")
    try secrets.set(#require(kept[1 << 20]), for: "1")
    #expect(try again.data(for: "1048576") == Data([1]))
    #expect(try again.data(for: "1") == kept[1 << 20])
  }

  @Test(arguments: TestedStore.all)
  func `takes its limit and no more`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let secrets = try place.secrets()
    let limit = secrets.store.sizeLimit
    #expect(limit >= 1 << 20)
    try secrets.set("small", for: "a")
    let larger = SecretBytes(count: limit + 1) { _ in }
    let error = #expect(throws: SecretError.self) { try secrets.set(larger, for: "a") }
    #expect(error?.code == .tooLarge)
    let id = try SecretID(service: secrets.service, account: "a")
    let direct = #expect(throws: SecretError.self) {
      try secrets.store.write(larger, for: id, SecretStoreWrite())
    }
    #expect(direct?.code == .tooLarge)
    #expect(try secrets.string(for: "a") == "small")

    let largest = SecretBytes(count: limit) { bytes in
      for index in stride(from: 0, to: limit, by: 997) { bytes[index] = UInt8(index & 0xFF) }
      bytes[limit - 1] = 42
    }
    try secrets.set(largest, for: "a")
    #expect(try secrets.bytes(for: "a") == largest)
  }

  private struct Token: Codable, Equatable {
    var access: String
    var expires: Date
    var scopes: [String]
  }

  @Test(arguments: TestedStore.all)
  func `keeps Codable values`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let secrets = try place.secrets()
    let token = Token(
      access: "sésame/\"1\"", expires: Date(timeIntervalSince1970: 1.5), scopes: ["a", "b"])
    try secrets.setValue(token, for: "token")
    #expect(try secrets.value(Token.self, for: "token") == token)
    try secrets.setValue(41, for: "number")
    try secrets.replace(
      SecretBytes(encoding: 41), with: SecretBytes(encoding: 42), for: "number")
    #expect(try secrets.value(Int.self, for: "number") == 42)

    try secrets.set("not a token of 12345", for: "token")
    let error = #expect(throws: SecretError.self) { try secrets.value(Token.self, for: "token") }
    #expect(error?.code == .notDecodable && error?.account == "token")
    #expect("\(String(describing: error))".contains("12345") == false)
    let infinite = #expect(throws: SecretError.self) {
      try secrets.setValue(Double.infinity, for: "token")
    }
    #expect(infinite?.code == .notDecodable)
    #expect(try secrets.string(for: "token") == "not a token of 12345")
  }

  /// The three calls that apps wrap Apple's Keychain in.
  @Test(arguments: TestedStore.all)
  func `has the calls of Keychain wrappers`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let keychain = try place.secrets()
    let token = "eyJhbGci..."
    let missing = #expect(throws: SecretError.self) { try keychain.load(key: "authToken") }
    #expect(missing?.code == .notFound && missing?.account == "authToken")
    try keychain.delete(key: "authToken")
    try keychain.save(key: "authToken", data: Data("old".utf8))
    try keychain.save(key: "authToken", data: Data(token.utf8))
    let saved = try keychain.load(key: "authToken")
    #expect(String(data: saved, encoding: .utf8) == token)
    try keychain.delete(key: "authToken")
    #expect(throws: SecretError.self) { try keychain.load(key: "authToken") }
  }
}
