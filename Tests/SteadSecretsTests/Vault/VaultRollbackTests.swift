import Foundation
import SteadFiles
import Testing

@testable import SteadSecrets

/// Old copies of a vault, which are as authentic as the newest.
@Suite struct VaultRollbackTests {
  private let place: TestVault
  private let old: Data

  init() throws {
    place = try TestVault()
    try place.open().set("alt", "anna")
    old = try Data(contentsOf: place.url)
  }

  private var witness: URL {
    get throws {
      let names = try FileManager.default.contentsOfDirectory(atPath: place.witnesses.filePath)
      #expect(names.count == 1)
      return place.witnesses.file(names.first ?? "")
    }
  }

  private func putBack() throws { try place.put(old, nil) }

  @Test func `an old copy is noticed by the next program`() throws {
    try place.open().set("neu", "anna")
    try putBack()
    #expect(errorCode { _ = try place.open() } == .rolledBack)
    #expect(errorCode { _ = try place.open(.open) } == .rolledBack)
    #expect(try Data(contentsOf: place.url) == old)
  }

  @Test func `an old copy is noticed by an open vault without its witness`() throws {
    let vault = try place.open()
    try vault.set("neu", "anna")
    try FileManager.default.removeItem(at: place.witnesses)
    try putBack()
    #expect(errorCode { _ = try vault.text("anna") } == .rolledBack)
    #expect(errorCode { try vault.set("neuer", "anna") } == .rolledBack)
    #expect(try Data(contentsOf: place.url) == old)
  }

  /// The protection was off without a word where its files could not be written.
  @Test(
    .exitTests,
    arguments: ["a file", "a link that leads nowhere", "a file system that cannot be written"])
  func `a vault whose protection cannot be written reports it once`(obstacle: String) async throws {
    await #expect(processExitsWith: .success) { [obstacle = obstacle as String] in
      let place = try TestVault()
      let state = place.directory.file("state")
      switch obstacle {
      case "a file": try Data().write(to: state)
      case "a link that leads nowhere":
        try FileManager.default.createSymbolicLink(
          at: state, withDestinationURL: place.directory.file("none/state"))
      default:
        try FileManager.default.createSymbolicLink(
          at: state, withDestinationURL: URL(filePath: "/proc/self/fdinfo"))
      }
      let problems = ForkSafeLock<[Stead.Problem]>([])
      Stead.onProblem = { problem in
        problems.withLock { $0.append(problem) }
        // The handler may use the vault's file.
        _ = try? place.open().text("anna")
      }
      let vault = try place.open()
      try vault.set("neu", "anna")
      try vault.set("neuer", "anna")
      _ = try place.open()
      #expect(try vault.text("anna") == "neuer")
      let told = problems.withLock { $0 }
      #expect(told.map(\.code) == [.rollbackUnnoticed, .rollbackUnnoticed])
      #expect(Set(told.map(\.product)) == [.secrets])
      #expect(told.allSatisfy { $0.subject.hasPrefix(state.filePath) })
      #expect(told.allSatisfy { $0.message.contains("XDG_STATE_HOME") })

      // Once it can be written, it protects again, and a later obstacle is news.
      problems.withLock { $0 = [] }
      try FileManager.default.removeItem(at: state)
      let old = try Data(contentsOf: place.url)
      try place.open().set("am neuesten", "anna")
      try place.put(old, nil)
      #expect(errorCode { _ = try place.open() } == .rolledBack)
      #expect(problems.withLock { $0.isEmpty })
      try place.put(old, nil)
      try FileManager.default.removeItem(at: state)
      try Data().write(to: state)
      _ = try place.open()
      #expect(problems.withLock { $0.count } == 2)
    }
  }

  private static let reads: [@Sendable (Vault) throws -> Void] = [
    { _ = try $0.text("anna") }, { _ = try $0.state() }, { _ = try $0.keySlots },
    { _ = try $0.items(matching: [:]) },
  ]

  /// A program that only reads what others write was without protection, and without a word, as soon as the files could not be
  /// written any more.
  @Test(.exitTests, arguments: 0..<4, [false, true])
  func `a program that only reads is told`(read: Int, isLocked: Bool) async throws {
    await #expect(processExitsWith: .success) { [read = read as Int, isLocked = isLocked as Bool] in
      let place = try TestVault()
      let problems = ForkSafeLock<[Stead.Problem]>([])
      Stead.onProblem = { problem in problems.withLock { $0.append(problem) } }
      let (reader, writer) = (try place.open(), try place.open())
      try VaultRollbackTests.reads[read](reader)
      try writer.set("neu", "anna")
      #expect(problems.withLock { $0.isEmpty })
      // The writer's mark is gone with the file, and the reader cannot write it again.
      let witness = try #require(
        try FileManager.default.contentsOfDirectory(atPath: place.witnesses.filePath).first)
      let file = place.witnesses.file(witness)
      try FileManager.default.removeItem(at: file)
      let lock = FileLock(file)
      if isLocked {
        try lock.withLockIfAvailable { try VaultRollbackTests.reads[read](reader) }
      } else {
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        try VaultRollbackTests.reads[read](reader)
      }
      let told = problems.withLock { $0 }
      #expect(told.map(\.code) == [.rollbackUnnoticed])
      #expect(told.first?.subject == file.filePath)
      for read in VaultRollbackTests.reads { try read(reader) }
      #expect(problems.withLock { $0.count } == 1)
    }
  }

  /// With a substitute for the process's environment, whose home does not exist.
  @Test(arguments: [false, true]) func `no vault creates a home`(hasOther: Bool) throws {
    let home = place.directory.file("home")
    var environment = place.environment
    environment["XDG_STATE_HOME"] = hasOther ? home.file("state").filePath : nil
    environment["HOME"] = home.filePath
    let vault = try Vault(
      at: place.url, key: .keyFile(place.keyFile), environment: environment)
    try vault.set("neu", "anna")
    #expect(throws: SecretError.self) {
      try Vault(
        at: home.file("vault/secrets.vault"), key: .keyFile(place.keyFile), opening: .openOrCreate,
        environment: environment)
    }
    #expect(try !place.directory.names.contains("home"))
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: false)
    try vault.set("neuer", "anna")
    #expect(try !FileManager.default.contentsOfDirectory(atPath: home.filePath).isEmpty)
  }

  @Test(.exitTests) func `a vault whose protection can be written reports nothing`() async throws {
    await #expect(processExitsWith: .success) {
      let place = try TestVault()
      let count = ForkSafeLock(0)
      Stead.onProblem = { _ in count.withLock { $0 += 1 } }
      let vault = try place.open()
      for number in 0..<5 { try vault.set("\(number)", "anna") }
      try Vault.acceptRollback(
        at: place.url, key: .keyFile(place.keyFile), environment: place.environment)
      #expect(count.withLock { $0 } == 0)
    }
  }

  /// Two branches of one vault have the same generation.
  @Test func `another branch is noticed`() throws {
    let vault = try place.open()
    try vault.set("ein", "anna")
    let branch = try Data(contentsOf: place.url)
    try putBack()
    try FileManager.default.removeItem(at: place.witnesses)
    try place.open().set("anderer", "anna")
    try place.put(branch, nil)
    #expect(errorCode { _ = try place.open() } == .rolledBack)
    #expect(errorCode { _ = try vault.text("anna") } == .rolledBack)
  }

  @Test func `an accepted copy is the newest for everyone`() throws {
    let vault = try place.open()
    try vault.set("neu", "anna")
    try putBack()
    try Vault.acceptRollback(
      at: place.url, key: .keyFile(place.keyFile), environment: place.environment)
    #expect(try place.open(.open).text("anna") == "alt")
    #expect(try vault.text("anna") == "alt")
    try putBack()
    #expect(errorCode { _ = try place.open() } == .rolledBack)
  }

  @Test func `accepting needs the key and a vault`() throws {
    let other = try TestVault()
    try other.put(nil, Data(count: 32))
    #expect(
      errorCode {
        try Vault.acceptRollback(
          at: place.url, key: .keyFile(other.keyFile), environment: place.environment)
      } == .wrongKey)
    #expect(
      errorCode {
        try Vault.acceptRollback(
          at: other.url, key: .keyFile(other.keyFile), environment: other.environment)
      } == .notInitialized)
    #expect(try other.directory.names == ["keys"])
  }

  /// A writer that is killed behind the replacement leaves a witness that is behind.
  @Test func `a witness that is behind is raised`() throws {
    let behind = try Data(contentsOf: witness)
    try place.open().set("neu", "anna")
    let newer = try Data(contentsOf: witness)
    try behind.write(to: witness)
    #expect(try place.open().text("anna") == "neu")
    #expect(try Data(contentsOf: witness) == newer)
    try putBack()
    #expect(errorCode { _ = try place.open() } == .rolledBack)
  }

  /// A record that was cut short, or damaged, counts for nothing; the other one does.
  @Test func `one damaged record leaves the other`() throws {
    try place.open().set("neu", "anna")
    try place.open().set("neuer", "anna")
    // Generations 3 and 4 are in records 1 and 0; the copy is generation 2.
    let records = try Data(contentsOf: witness)
    #expect(records.count == 128)
    try putBack()
    for (damaged, code) in [
      (records.flipping(0), SecretError.Code.rolledBack), (records.flipping(100), .rolledBack),
      (records.flipping(0).flipping(100), nil),
    ] {
      try damaged.write(to: witness)
      #expect(errorCode { _ = try place.open() } == code)
    }
  }

  /// Generations in a witness are worth only as much as the code behind them.
  @Test func `a forged witness counts for nothing`() throws {
    var forged = try Data(contentsOf: witness)
    forged[7] = 0x7F
    try forged.write(to: witness)
    #expect(try place.open().text("anna") == "alt")
  }

  @Test func `without a place for the witness, the vault works`() throws {
    try FileManager.default.removeItem(at: place.directory.file("state"))
    try Data().write(to: place.directory.file("state"))
    let vault = try place.open()
    try vault.set("neu", "anna")
    #expect(try place.open().text("anna") == "neu")
    try putBack()
    #expect(errorCode { _ = try vault.text("anna") } == .rolledBack)
  }
}

extension Data {
  fileprivate func flipping(_ index: Int) -> Data {
    var copy = self
    copy[index] ^= 1
    return copy
  }
}
