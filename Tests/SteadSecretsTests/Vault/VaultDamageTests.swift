import Foundation
import SteadEncoding
@testable import SteadSecrets
import Testing

/// Files that are not as they were written.
@Suite struct VaultDamageTests {
  private let place: TestVault
  private let file: Data

  init() throws {
    place = try TestVault()
    let vault = try place.open()
    try vault.set("geheim", "anna", SecretStoreWrite(label: "Post", attributes: ["server": "mx"]))
    try vault.set("streng geheim", "otto")
    file = try Data(contentsOf: place.url)
  }

  /// What opening gives for a file that is not the whole vault; and that it stays as it is.
  private func outcome(_ damaged: Data) throws -> SecretError.Code? {
    try damaged.write(to: place.url)
    try place.url.setMode(0o600)
    let code = errorCode { _ = try place.open() }
    #expect(try Data(contentsOf: place.url) == damaged)
    return code
  }

  @Test func `every flipped bit is noticed`() throws {
    let versionPlace = 8..<12
    for place in file.indices {
      for bit in 0..<8 {
        var damaged = file
        damaged[place] ^= 1 << bit
        // Version 1 without its only bit is version 0, which never was.
        let isNewer = versionPlace.contains(place) && (place, bit) != (8, 0)
        let code = try outcome(damaged)
        #expect(code == (isNewer ? .newerVersion : .corrupt), "byte \(place), bit \(bit)")
      }
    }
  }

  @Test func `every cut is noticed`() throws {
    for length in file.indices {
      #expect(try outcome(file.prefix(length)) == .corrupt, "\(length) bytes")
    }
    #expect(try outcome(file + Data(count: 1)) == .corrupt)
    #expect(try outcome(Data(count: VaultLayout.fileLimit + 1)) == .corrupt)
  }

  /// The digest of the header needs no key, so an attacker can make it anew.
  @Test func `a header with a new digest is noticed`() throws {
    let header = try file.withUnsafeBytes { try VaultHeader(parsing: $0) }
    let slot = VaultLayout.fixedSize
    for place in 0..<(header.size - VaultLayout.digestSize) {
      var damaged = file
      damaged[place] ^= 1
      damaged.digestHeader(header.size)
      let code = try outcome(damaged)
      let expected: SecretError.Code =
        switch place {
        case 9..<12: .newerVersion
        // Salt and check of the only slot; and its kind, made the credential's.
        case slot, slot + 40..<slot + 104: .wrongKey
        default: .corrupt
        }
      #expect(code == expected, "byte \(place)")
    }
  }

  /// A vault that is open does not go on with what it knew, and writes nothing.
  @Test func `an open vault notices damage and does not write over it`() throws {
    let vault = try place.open()
    var damaged = file
    damaged[file.count - 1] ^= 1
    try damaged.write(to: place.url)
    try place.url.setMode(0o600)
    let id = try SecretID(service: "mail", account: "anna")
    #expect(errorCode { _ = try vault.bytes(for: id) } == .corrupt)
    #expect(errorCode { _ = try vault.items(service: "mail") } == .corrupt)
    #expect(errorCode { try vault.set("neu", "anna") } == .corrupt)
    #expect(errorCode { try vault.remove(id) } == .corrupt)
    #expect(errorCode { try vault.removeAll(service: "mail") } == .corrupt)
    #expect(errorCode { try vault.addKey(TestVault.passphrase("x")) } == .corrupt)
    #expect(try Data(contentsOf: place.url) == damaged)
    try file.write(to: place.url)
    #expect(try vault.text("anna") == "geheim")
  }

  @Test func `a vault that is gone is not made anew by an object that had it`() throws {
    let vault = try place.open()
    try FileManager.default.removeItem(at: place.url)
    #expect(errorCode { _ = try vault.text("anna") } == .notInitialized)
    #expect(errorCode { try vault.set("neu", "anna") } == .notInitialized)
    #expect(try vault.state() == .notInitialized)
    #expect(!FileManager.default.fileExists(atPath: place.url.filePath))
  }

  @Test func `another vault in the place is noticed`() throws {
    let vault = try place.open()
    try FileManager.default.removeItem(at: place.url)
    try place.open(.create).set("anderes", "anna")
    #expect(errorCode { _ = try vault.text("anna") } == .anotherVault)
    #expect(errorCode { try vault.set("neu", "anna") } == .anotherVault)
    #expect(try place.open().text("anna") == "anderes")
  }

  /// One key may open several vaults. Another of them in the place was taken for the one that had been there, by
  /// every program that opened it later.
  @Test func `another vault of the same key is not taken for the one that was there`() throws {
    try place.open().set("geheim", "anna")
    let other = place.directory.file("vault/other.vault")
    let opened = try Vault(
      at: other, key: .keyFile(place.keyFile), opening: .create, environment: place.environment)
    try opened.set("anderes", "anna")
    let mine = try Data(contentsOf: place.url)
    try place.put(Data(contentsOf: other), nil)
    let error = secretError { _ = try place.open(.open) }
    #expect(error?.code == .anotherVault)
    #expect(error?.message.contains("Vault.acceptRollback(at:key:)") == true)
    #expect(errorCode { _ = try place.open(.openOrCreate) } == .anotherVault)
    #expect(try Data(contentsOf: place.url) == Data(contentsOf: other))
    try place.put(mine, nil)
    #expect(try place.open().text("anna") == "geheim")
    // Put there on purpose.
    try place.put(Data(contentsOf: other), nil)
    try Vault.acceptRollback(
      at: place.url, key: .keyFile(place.keyFile), environment: place.environment)
    #expect(try place.open().text("anna") == "anderes")
    try place.put(mine, nil)
    #expect(errorCode { _ = try place.open() } == .anotherVault)
  }

  /// It looked like one that has never had secrets, and a new one was made.
  @Test func `a vault that is gone is missed by every program`() throws {
    try place.open().set("geheim", "anna")
    try FileManager.default.removeItem(at: place.url)
    #expect(errorCode { _ = try place.open(.openOrCreate) } == .notInitialized)
    #expect(!FileManager.default.fileExists(atPath: place.url.filePath))
    _ = try place.open(.create)
    #expect(try place.open().text("anna") == nil)
  }

  @Test func `without its memory of paths, a vault works`() throws {
    try place.open().set("geheim", "anna")
    let pins = place.directory.file("state/stead/vault-paths")
    let names = try FileManager.default.contentsOfDirectory(atPath: pins.filePath)
    #expect(names.count == 1 && names[0].utf8.count == 64)
    let pin = pins.file(names[0])
    #expect(try pin.mode == 0o600)
    let id = try String(contentsOf: pin, encoding: .utf8)
    for damaged in ["", "x\n", String(repeating: "g", count: 32) + "\n", id + id] {
      try Data(damaged.utf8).write(to: pin)
      #expect(try place.open(.open).text("anna") == "geheim")
      // It is noted again.
      #expect(try String(contentsOf: pin, encoding: .utf8) == id)
    }
  }
}

/// The parsers, without the digests and keys that keep strange bytes away from them.
@Suite struct VaultFormatTests {
  @Test func `strange headers give errors or what they say`() throws {
    let place = try TestVault()
    _ = try place.open()
    let file = try Data(contentsOf: place.url)
    var random = SplitMix(seed: 3)
    for _ in 0..<Effort.times(20_000) {
      var strange = file.prefix(Int.random(in: 0...file.count, using: &random))
      for _ in 0..<Int.random(in: 0...4, using: &random) where !strange.isEmpty {
        strange[Int.random(in: strange.indices, using: &random)] = random.strangeByte()
      }
      do {
        let header = try strange.withUnsafeBytes { try VaultHeader(parsing: $0) }
        #expect(header.valuesRange.upperBound == strange.count)
      } catch let error as SecretError {
        #expect(error.code == .corrupt || error.code == .newerVersion)
      }
    }
  }

  @Test func `strange indexes give errors or what they say`() throws {
    let entries = ["a", "b"].map {
      VaultEntry(
        service: "s", account: $0, label: "l", attributes: [.init(name: "n", value: "v")],
        created: 1, modified: 2, salt: [UInt8](repeating: 3, count: 32), length: 100)
    }
    let index = VaultIndex(valuesDigest: [UInt8](repeating: 4, count: 32), entries: entries)
    var bytes = Data(count: index.encodedSize)
    bytes.withUnsafeMutableBytes { memory in
      var writer = VaultWriter(memory)
      index.write(to: &writer)
    }
    func parsed(_ bytes: Data) throws -> VaultIndex {
      try bytes.withUnsafeBytes {
        try VaultIndex(parsing: $0, valuesLength: index.valuesLength)
      }
    }
    #expect(try parsed(bytes) == index)
    var random = SplitMix(seed: 4)
    for _ in 0..<Effort.times(20_000) {
      var strange = bytes.prefix(Int.random(in: 200...bytes.count, using: &random))
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        strange[Int.random(in: 0..<170, using: &random)] = random.strangeByte()
      }
      do {
        let found = try parsed(strange)
        #expect(found.encodedSize == strange.count)
        #expect(found.valuesLength == index.valuesLength)
      } catch let error as SecretError {
        #expect(error.code == .corrupt)
      }
    }
  }
}

extension SplitMix {
  /// Often a byte at which numbers change their kind.
  fileprivate mutating func strangeByte() -> UInt8 {
    [0, 1, 2, 0x7F, 0x80, 0xFF, UInt8(truncatingIfNeeded: next())].randomElement(using: &self) ?? 0
  }
}

extension Data {
  /// Makes the digest of a header anew.
  fileprivate mutating func digestHeader(_ size: Int) {
    let end = size - VaultLayout.digestSize
    replaceSubrange(end..<size, with: Data(hexadecimal: SHA256.hexadecimal(prefix(end))))
  }
}

// MARK: - Inputs of the fuzzer

/// What Scripts/fuzz begins with, and what it has found, through the parser of vaults.
///
/// The first byte of a file says what follows: a header with the rest of a vault (0), or the length of
/// the values and an opened index (1). The seeds are of a vault without items, with one, and with
/// several and two keys.
struct FuzzedInputTests {
  private static let directory = URL(filePath: #filePath, directoryHint: .notDirectory)
    .deletingLastPathComponent().appending(path: "../../Support/VaultFuzz")

  /// Seeds that the parser refused would teach the fuzzer nothing.
  @Test func `seeds are what the parser takes`() throws {
    let seeds = try inputs("Seeds")
    #expect(seeds.count >= 4)
    for (name, data) in seeds {
      #expect(throws: Never.self, "\(name)") { try Self.parse(data) }
    }
  }

  @Test func `findings no longer stop the parser`() throws {
    for (_, data) in (try? inputs("Findings")) ?? [] { try? Self.parse(data) }
  }

  private static func parse(_ data: Data) throws {
    try data.withUnsafeBytes { bytes in
      let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
      if bytes[0] % 2 == 0 {
        _ = try VaultHeader(parsing: rest)
      } else {
        let length = UInt64(littleEndian: rest.loadUnaligned(as: UInt64.self))
        _ = try VaultIndex(
          parsing: UnsafeRawBufferPointer(rebasing: rest[8...]), valuesLength: Int(length))
      }
    }
  }

  private func inputs(_ folder: String) throws -> [(String, Data)] {
    let place = Self.directory.appending(path: folder)
    return try FileManager.default.contentsOfDirectory(atPath: place.filePath).map {
      ($0, try Data(contentsOf: place.file($0)))
    }
  }
}
