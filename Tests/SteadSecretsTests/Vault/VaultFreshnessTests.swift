import Foundation
import SteadSecrets
import Synchronization
import Testing

/// Readers while others write: each sees the newest, and takes no newer version for an older one.
@Suite struct VaultFreshnessTests {
  private static let writers = ["a", "b"]
  private static let rounds = 300

  private let place: TestVault

  init() throws { place = try TestVault() }

  @Test func `readers never see time go back`() throws {
    try place.open().set("0", "a")
    try place.open().set("0", "b")
    // What a finished write has put there, from which on no reader may see less.
    let written = Mutex<[String: Int]>([:])
    let shared = try place.open(.open)
    try inThreads(8) { thread in
      if thread < Self.writers.count {
        let (vault, account) = (try place.open(.open), Self.writers[thread])
        for round in 1...Self.rounds {
          try vault.set("\(round)", account)
          written.withLock { $0[account] = round }
        }
        return
      }
      var vault = shared
      var isDone = false
      while !isDone {
        // One of the readers opens the vault anew each time; the others share an object.
        if thread == 7 { vault = try place.open(.open) }
        isDone = true
        for account in Self.writers {
          let least = written.withLock { $0[account] ?? 0 }
          let found = try vault.text(account).flatMap { Int($0) } ?? -1
          #expect(found >= least)
          guard found >= least else { return }
          if found < Self.rounds { isDone = false }
        }
      }
    }
  }

  /// With locks of their own, one writer replaced what the other one had just written, and then took its own version for an
  /// older one.
  @Test(arguments: [2, 4])
  func `writers whose lock somebody removes lose no secret`(count: Int) throws {
    let (lock, rounds) = (place.url.filePath + ".lock", 40)
    try inThreads(count) { thread in
      unlink(lock)
      let vault = try place.open()
      for round in 0..<rounds {
        unlink(lock)
        try vault.set("\(round)", "\(thread).\(round % 5)")
        #expect(try vault.text("\(thread).\(round % 5)") == "\(round)")
      }
    }
    let vault = try place.open(.open)
    for thread in 0..<count {
      for account in 0..<5 {
        #expect(try vault.text("\(thread).\(account)") == "\(rounds - 5 + account)")
      }
    }
  }

  /// A file that is put in place by other means is noticed by its times, too.
  @Test func `a file of the same length and time is noticed`() throws {
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
