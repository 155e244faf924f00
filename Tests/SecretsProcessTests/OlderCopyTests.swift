import Foundation
import Testing

/// An older copy in the place of a vault is noticed by every process of the user, is left as it is, and is
/// taken only when somebody says so.
struct OlderCopyTests {
  @Test func otherProcessesNoticeAnOlderCopy() throws {
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
  @Test func otherProcessesNoticeABranch() throws {
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
