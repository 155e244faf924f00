import Foundation
import SteadSecrets
import Synchronization
import Testing

/// Readers while others write: each sees the newest, and takes no newer version for an older one.
@Suite struct VaultFreshnessTests {
  private static let writers = ["a", "b"]
  private static let rounds = 100

  private let place: TestVault

  init() throws { place = try TestVault() }

  @Test func readersNeverSeeTimeGoBack() throws {
    try place.open().set("0", "a")
    try place.open().set("0", "b")
    // What a finished write has put there, from which on no reader may see less.
    let written = Mutex<[String: Int]>([:])
    try inThreads(5) { thread in
      if thread < Self.writers.count {
        let (vault, account) = (try place.open(.open), Self.writers[thread])
        for round in 1...Self.rounds {
          try vault.set("\(round)", account)
          written.withLock { $0[account] = round }
        }
        return
      }
      var vault = try place.open(.open)
      var isDone = false
      while !isDone {
        // One of the readers opens the vault anew each time.
        if thread == 4 { vault = try place.open(.open) }
        isDone = true
        for account in Self.writers {
          let least = written.withLock { $0[account] ?? 0 }
          let found = try vault.text(account).flatMap { Int($0) } ?? -1
          #expect(found >= least)
          if found < Self.rounds { isDone = false }
          guard found >= 0 else { return }
        }
      }
    }
  }

  /// A file that is put in place by other means is noticed by its times, too.
  @Test func aFileOfTheSameLengthAndTimeIsNoticed() throws {
    let vault = try place.open()
    try vault.set("eins", "anna")
    let other = try TestVault()
    try other.put(Data(contentsOf: place.url), Data(contentsOf: place.keyFile))
    try other.open(.open).set("zwei", "anna")
    let (old, new) = (try Data(contentsOf: place.url), try Data(contentsOf: other.url))
    #expect(old.count == new.count)
    let date = try FileManager.default.attributesOfItem(atPath: place.url.filePath)[
      .modificationDate]
    let handle = try FileHandle(forWritingTo: place.url)
    try handle.write(contentsOf: new)
    try handle.close()
    try FileManager.default.setAttributes(
      [.modificationDate: try #require(date)], ofItemAtPath: place.url.filePath)
    #expect(try vault.text("anna") == "zwei")
  }
}
