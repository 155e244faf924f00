import Crypto

#if os(Linux)
  import CForkSupport
  import CSteadSecrets
  import Foundation
  import Testing

  @testable import SteadSecrets

  /// What opened a vault is not left in the memory of the process.
  @Suite struct VaultKeyLeakTests {
    private let place: TestVault
    private let scan: MemoryScan

    init() throws {
      place = try TestVault()
      scan = try MemoryScan(size: 48)
    }

    private var key: SecretBytes { SecretBytes(copying: UnsafeRawBufferPointer(scan.secret)) }

    private func use(_ vault: Vault) throws {
      try vault.set("geheim", "anna")
      #expect(try vault.text("anna") == "geheim")
    }

    /// In a process with many threads the digest's state, which holds what did not fill a block, was once
    /// found after it was freed. Threads that end leave their heaps to nobody.
    @Test func `no key is left by threads that ended`() throws {
      try use(place.open(.stored(in: Self.store(key), Self.id()), .create))
      try openInThreads()
      #expect(try scan.findings() == [])
    }

    /// A function of its own, so that the key is let go of when it returns.
    private func openInThreads() throws {
      let (place, key) = (place, key)
      try inThreads(8) { _ in
        let store = try Self.store(key)
        for _ in 0..<20 { _ = try place.open(.stored(in: store, Self.id()), .open) }
      }
    }

    private static func id() throws -> SecretID { try SecretID(service: "vault", account: "key") }

    private static func store(_ key: SecretBytes) throws -> InMemorySecretStore {
      let store = InMemorySecretStore()
      try store.write(key, for: id(), SecretStoreWrite())
      return store
    }

    /// The cryptographic library frees the schedule of a key, from which the key follows, and does not wipe it.
    @Test func `no schedule of a key is left`() throws {
      let vault = try place.open(.openOrCreate)
      try vault.set("geheim", "anna")
      let scan = try MemoryScan(size: AESSchedule.size)
      for _ in 0..<3 {
        #expect(try place.open(.open).text("anna") == "geheim")
        let snapshot = try vault.current()
        AESSchedule.expand(vault.root.valueKey(snapshot.entries[0].salt), into: scan.secret)
        #expect(try vault.text("anna") == "geheim")
        #expect(try scan.findings() == [])
        AESSchedule.expand(vault.root.indexKey(snapshot.header.writeSalt), into: scan.secret)
        #expect(try place.open(.open).items(service: "mail").count == 1)
        #expect(try scan.findings() == [])
      }
    }

    /// What is in vector registers goes to the stack with the next signal, and into core dumps.
    @Test func `no key is left in vector registers`() throws {
      let key = VaultRoot.random().valueKey([])
      let sealed = try [UInt8](repeating: 7, count: 4_096).withUnsafeBytes {
        try VaultCipher.seal($0, by: key, with: [1])
      }
      let schedule = UnsafeMutableRawBufferPointer.allocate(
        byteCount: AESSchedule.size, alignment: 16)
      defer { schedule.deallocate() }
      AESSchedule.expand(key, into: schedule)
      var registers = [UInt8](repeating: 0, count: 256)
      let opened = VaultCipher.open(sealed, by: key, with: [1])
      stead_test_store_vectors(&registers)
      #expect(opened?.count == 4_096)
      for start in stride(from: 0, to: registers.count, by: 16) {
        let register = registers[start..<start + 16]
        #expect(!register.elementsEqual(repeatElement(7, count: 16)))
        for round in stride(from: 0, to: AESSchedule.size, by: 16) {
          #expect(!register.elementsEqual(schedule[round..<round + 16]))
        }
      }
    }

    @Test func `vector registers are cleared`() {
      #expect(stead_test_vectors_left_by(stead_clear_vectors) == 0)
      #expect(stead_test_vectors_left_by({}) > 0)
    }

    @Test func `no passphrase is left`() throws {
      try use(place.open(.passphrase(key, TestVault.cheap), .create))
      let vault = try place.open(.passphrase(key, TestVault.cheap), .open)
      try vault.changePassphrase(from: key, to: SecretBytes("neu"), cost: TestVault.cheap)
      try vault.changePassphrase(from: SecretBytes("neu"), to: key, cost: TestVault.cheap)
      #expect(errorCode { _ = try place.open(TestVault.passphrase("neu"), .open) } == .wrongKey)
      #expect(try scan.findings() == [])
    }

    @Test func `no key of a file is left`() throws {
      // Written from where the scan does not look, so that the test itself leaves nothing.
      try place.put(nil, Data())
      let file = open(place.keyFile.filePath, O_WRONLY)
      #expect(write(file, scan.secret.baseAddress, scan.size) == scan.size)
      close(file)
      try use(place.open(.create))
      try use(place.open(.open))
      #expect(try scan.findings() == [])
    }

    @Test func `no key of another store is left`() throws {
      let store = try Self.store(key)
      try use(place.open(.stored(in: store, Self.id()), .create))
      try use(place.open(.stored(in: store, Self.id()), .open))
      try store.remove(Self.id())
      #expect(try scan.findings() == [])
    }
  }
#endif

// MARK: - Key schedule

/// The schedule of a key of AES-256 (FIPS 197), made in the memory that is given, and nowhere else.
enum AESSchedule {
  /// Fifteen round keys of sixteen bytes.
  static let size = 240

  static func expand(_ key: SymmetricKey, into schedule: UnsafeMutableRawBufferPointer) {
    key.withUnsafeBytes { schedule.copyMemory(from: $0) }
    var constant: UInt8 = 1
    for word in 8..<60 {
      for byte in 0..<4 {
        var previous = schedule[word * 4 - 4 + byte]
        if word % 8 == 0 {
          previous = box[Int(schedule[word * 4 - 4 + (byte + 1) % 4])]
          if byte == 0 { previous ^= constant }
        } else if word % 8 == 4 {
          previous = box[Int(previous)]
        }
        schedule[word * 4 + byte] = schedule[word * 4 - 32 + byte] ^ previous
      }
      if word % 8 == 0 { constant = doubled(constant) }
    }
  }

  private static func doubled(_ byte: UInt8) -> UInt8 {
    byte & 0x80 == 0 ? byte << 1 : byte << 1 ^ 0x1B
  }

  /// The S-box: the inverse in the field of 256 elements, and bits that are mixed.
  private static let box: [UInt8] = {
    var box = [UInt8](repeating: 0x63, count: 256)
    var (element, inverse): (UInt8, UInt8) = (1, 1)
    repeat {
      // Times 3, and divided by 3.
      element ^= doubled(element)
      for shift in [1, 2, 4] { inverse ^= inverse << shift }
      if inverse & 0x80 != 0 { inverse ^= 0x09 }
      var mixed = inverse
      for rotation in 1...4 { mixed ^= inverse << rotation | inverse >> (8 - rotation) }
      box[Int(element)] = mixed ^ 0x63
    } while element != 1
    return box
  }()
}
