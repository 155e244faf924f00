import Foundation
import Testing

/// Processes that make the same vault at once end with one vault, one key, and what all of them kept.
struct VaultCreationTests {
  @Test(arguments: [2, 8])
  func oneVaultIsMade(creators: Int) throws {
    for _ in 0..<10 {
      let directory = try TemporaryDirectory(inMemory: true)
      let workers = try (0..<creators).map {
        try Worker(.vault, directory.url, ["create", "w\($0)"])
      }
      for worker in workers { try #require(worker.line() == "ready") }
      for worker in workers { worker.send("go") }
      for worker in workers {
        #expect(worker.rest() == ["done"])
        #expect(worker.finish() == 0)
      }
      let contents = try Worker.contents(.vault, directory.url)
      let expected = Dictionary(
        uniqueKeysWithValues: (0..<creators).map { ("w\($0)", "of w\($0)") })
      #expect(contents == expected)
      let key = directory.file("keys/secrets.key")
      #expect(try key.mode == 0o600)
      #expect(try Data(contentsOf: key).count == 32)
      let names = try FileManager.default.contentsOfDirectory(
        atPath: directory.file("keys").filePath)
      #expect(names == ["secrets.key"])
    }
  }
}
