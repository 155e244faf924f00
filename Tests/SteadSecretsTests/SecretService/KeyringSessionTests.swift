import Foundation
import Testing

@Suite(.needs(.keyring)) struct KeyringSessionTests {
  /// Without a keyring the suites over all stores have fewer of them, and this test is skipped.
  @Test func isAmongTheStoresOfAllSuites() {
    let names = Set(TestedStore.all.map(\.name))
    #expect(names.isSuperset(of: ["Secret Service", "automatic, with a keyring"]))
  }

  @Test func keepsWhatSecretToolStoresUntilItIsLocked() throws {
    let session = try KeyringSession()
    let stored = try session.secretTool(
      "store", "--label=x", "service", "S", "account", "A", input: Data("word".utf8))
    #expect(stored.status == 0)
    #expect(try session.secretTool("lookup", "service", "S", "account", "A").text == "word")

    try session.lock()
    #expect(try session.secretTool("lookup", "service", "S", "account", "A").text == "")

    try session.restartUnlocked()
    #expect(try session.secretTool("lookup", "service", "S", "account", "A").text == "word")

    try session.restartLocked()
    #expect(try session.secretTool("lookup", "service", "S", "account", "A").text == "")
    #expect(session.startCount == 3)
  }

  @Test func hasNoKeyringBeforeOneIsMade() throws {
    let session = try KeyringSession(.uninitialised)
    let stored = try session.secretTool(
      "store", "--label=x", "service", "S", "account", "A", input: Data("word".utf8))
    #expect(stored.status != 0)
  }

  @Test func endsWithItsLastReference() throws {
    var session: KeyringSession? = try KeyringSession()
    let ids = [session?.bus.processID, session?.daemonID].compactMap(\.self)
    let directory = try #require(session).bus.directory.url.filePath
    #expect(ids.count == 2 && ids.allSatisfy { kill($0, 0) == 0 })
    session = nil
    #expect(!FileManager.default.fileExists(atPath: directory))
    #expect(kill(ids[0], 0) != 0)
  }
}
