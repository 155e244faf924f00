import Foundation
import Testing

/// A process may end at any moment. What `set` has returned for is there afterwards; the one change that
/// was under way is there or not, whole; nothing else is touched, and the store always opens.
struct SecretsKillTests {
  @Test(arguments: [
    (SharedStore.vault, 1, 30), (SharedStore.vault, 2, 20), (SharedStore.plaintext, 1, 20),
  ])
  func `loses nothing`(store: SharedStore, writers: Int, kills: Int) throws {
    let kills = Effort.times(kills, long: kills * 20)
    let seed = Effort.seed
    let directory = try TemporaryDirectory(inMemory: true)
    var run = KilledWriters((0..<writers).map { "w\($0)" }, seed: seed) { name in
      try Worker(store, directory.url, ["step", name, "\(seed)"])
    } fail: {
      Issue.record("\(store), seed \(seed): \($0)")
    }
    for _ in 0..<kills { try run.kill(after: 20) }
    run.end()
    run.check(try Worker.contents(store, directory.url))
    // The kills have met what they were meant to meet.
    #expect(run.changesDone > kills * 5)
    #expect(run.killsInChanges > kills / 20)
    #expect(run.killsInOpening > 0)
    // Half-made files are not left behind for ever.
    let place = store == .vault ? directory.url.file("vault") : directory.url
    let names = try FileManager.default.contentsOfDirectory(atPath: place.filePath)
    #expect(names.count <= 4, "\(names)")
  }
}

// MARK: - Several writers

/// Several processes keep secrets in one store at once, and others read it meanwhile.
struct SecretsCrowdTests {
  /// The plaintext store parses all that it has for each call.
  @Test(arguments: [(SharedStore.vault, 100, 2), (SharedStore.plaintext, 15, 1)])
  func `loses no secret`(store: SharedStore, count: Int, readers: Int) throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let writers = 4
    let total = writers * count
    let writing = try (0..<writers).map {
      try Worker(store, directory.url, ["write", "w\($0)", "\(count)"])
    }
    let reading = try (0..<readers).map { _ in
      try Worker(store, directory.url, ["read", "\(total)"])
    }
    try Worker.race(writing, reading)

    var expected = ["counter": "\(total)"]
    for writer in 0..<writers {
      for number in 0..<count { expected["w\(writer).\(number)"] = "w\(writer)-\(number)" }
    }
    let contents = try Worker.contents(store, directory.url)
    let wrong = expected.keys.filter { contents[$0] != expected[$0] }
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.sorted().prefix(5))")
    #expect(contents.count == expected.count)
  }
}

// MARK: - Forks

/// The child of a fork goes on with the store that its parent has opened, also when other threads of the
/// parent were in the middle of something.
struct SecretsForkTests {
  @Test(arguments: SharedStore.allCases)
  func `children use the store`(_ store: SharedStore) throws {
    let (children, count) = (8, 10)
    let directory = try TemporaryDirectory(inMemory: true)
    let worker = try Worker(store, directory.url, ["fork", "\(children)", "\(count)"])
    let lines = worker.rest()
    #expect(worker.finish() == 0)
    let expected = ["parent done"] + (0..<children).map { "child \($0) done" }
    #expect(lines.sorted() == expected.sorted())
    let contents = try Worker.contents(store, directory.url)
    for child in 0..<children {
      for number in 0..<count { #expect(contents["child\(child).\(number)"] == "\(number)") }
      #expect(contents["parent.\(child)"] == "\(child)")
    }
    #expect(contents["before"] == "from before")
    #expect(contents.count == 2 + children * (count + 1))
  }
}

// MARK: - Vaults

/// Processes that make the same vault at once end with one vault, one key, and what all of them kept.
struct VaultCreationTests {
  @Test(arguments: [2, 8])
  func `one vault is made`(creators: Int) throws {
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

/// An older copy in the place of a vault is noticed by every process of the user, is left as it is, and is
/// taken only when somebody says so.
struct OlderCopyTests {
  @Test func `other processes notice an older copy`() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let vault = directory.file("vault/secrets.vault")
    let (writer, reader) = (
      try Worker(.vault, directory.url, ["serve"]), try Worker(.vault, directory.url, ["serve"])
    )
    for worker in [writer, reader] { #expect(worker.line() == "ready") }
    #expect(writer.ask("set token old") == "ok")
    let copy = try Data(contentsOf: vault)
    #expect(writer.ask("set token new") == "ok")
    #expect(reader.ask("get token") == "value new")

    // In the way of a backup program: another file takes the name.
    try copy.write(to: vault, options: .atomic)
    try vault.setMode(0o600)
    for worker in [writer, reader] {
      #expect(worker.ask("get token") == "error rolledBack")
      #expect(worker.ask("set token newer") == "error rolledBack")
      #expect(worker.ask("dump") == "error rolledBack")
    }
    // One that has seen neither.
    #expect(try open(directory).first?.contains("older than one that was seen") == true)
    #expect(try Data(contentsOf: vault) == copy)

    let accepting = try Worker(.vault, directory.url, ["accept"])
    #expect(accepting.rest() == ["accepted"])
    #expect(try Worker.contents(.vault, directory.url) == ["token": "old"])
    let later = try Worker(.vault, directory.url, ["serve"])
    #expect(later.line() == "ready")
    #expect(later.ask("set token newest") == "ok")
    #expect(try Worker.contents(.vault, directory.url) == ["token": "newest"])
  }

  /// Two programs went on from one copy: each has written the same number of times, to another file.
  @Test func `other processes notice a branch`() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let vault = directory.file("vault/secrets.vault")
    let worker = try Worker(.vault, directory.url, ["serve"])
    #expect(worker.line() == "ready")
    #expect(worker.ask("set token first") == "ok")

    // On another machine, which knows nothing of this one.
    let elsewhere = try TemporaryDirectory(inMemory: true)
    for name in ["vault", "keys"] {
      try FileManager.default.copyItem(at: directory.file(name), to: elsewhere.file(name))
    }
    let other = try Worker(.vault, elsewhere.url, ["serve"])
    #expect(other.line() == "ready")
    #expect(other.ask("set token there") == "ok")
    #expect(worker.ask("set token here") == "ok")

    let branch = try Data(contentsOf: elsewhere.file("vault/secrets.vault"))
    try branch.write(to: vault, options: .atomic)
    try vault.setMode(0o600)
    #expect(worker.ask("get token") == "error rolledBack")
    #expect(try open(directory).first?.contains("older than one that was seen") == true)
    #expect(try Data(contentsOf: vault) == branch)
  }

  private func open(_ directory: TemporaryDirectory) throws -> [String] {
    let worker = try Worker(.vault, directory.url, ["serve"])
    worker.endInput()
    let lines = worker.rest()
    #expect(worker.finish() == WorkerMain.failureStatus)
    return lines
  }
}
