import Foundation
import Testing

/// A disk that is full: what cannot be kept is refused with an error that says so, all else stays, and
/// everything goes on when there is room again.
@Suite(.needs(.smallDisk))
struct SecretsFullDiskTests {
  @Test(arguments: SharedStore.allCases)
  func `a full disk refuses and keeps`(_ store: SharedStore) throws {
    let disk = try SmallDisk(byteCount: 1 << 20)
    let directory = disk.directory.url
    let worker = try Worker(store, directory, ["serve"])
    #expect(worker.line() == "ready")
    var expected: [String: String] = [:]
    for number in 0..<5 {
      #expect(worker.ask("fill old.\(number) 8000 \(number)") == "ok")
      expected["old.\(number)"] = "8000 bytes of \(number)"
    }
    try disk.fill(leaving: 16 << 10)
    let before = try files(of: store, in: directory)
    for account in ["new", "old.0"] {
      #expect(worker.ask("fill \(account) 60000 99") == "error noSpace")
    }
    // A small change needs a whole new file, too.
    #expect(worker.ask("fill old.1 7000 99") == "error noSpace")
    #expect(try files(of: store, in: directory) == before)
    try expect(expected, store, worker, directory)

    try disk.empty()
    #expect(worker.ask("fill new 60000 99") == "ok")
    #expect(worker.ask("fill old.0 7000 98") == "ok")
    expected["new"] = "60000 bytes of 99"
    expected["old.0"] = "7000 bytes of 98"
    try expect(expected, store, worker, directory)
    worker.endInput()
    #expect(worker.finish() == 0)
  }

  @Test func `a vault that cannot be made is reported`() throws {
    let disk = try SmallDisk(byteCount: 1 << 20)
    let directory = disk.directory.url
    for name in ["vault", "keys"] {
      try FileManager.default.createDirectory(
        at: directory.file(name), withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
    }
    try disk.fill()
    let worker = try Worker(.vault, directory, ["serve"])
    worker.endInput()
    let lines = worker.rest()
    #expect(lines.count == 1 && lines[0].hasPrefix("error "), "\(lines)")
    #expect(lines[0].contains("No space left on device"), "\(lines)")
    #expect(worker.finish() == WorkerMain.failureStatus)

    try disk.empty()
    let second = try Worker(.vault, directory, ["serve"])
    #expect(second.line() == "ready")
    #expect(second.ask("set a b") == "ok")
    #expect(try Worker.contents(.vault, directory) == ["a": "b"])
  }

  /// In the process that has the store open, and in one that opens it on the disk as it is.
  private func expect(
    _ expected: [String: String], _ store: SharedStore, _ worker: Worker, _ directory: URL
  ) throws {
    worker.send("dump")
    #expect(worker.dump() == expected)
    #expect(try Worker.contents(store, directory) == expected)
  }

  /// The files that hold secrets, and whatever else is beside them.
  private func files(of store: SharedStore, in directory: URL) throws -> [String: Data] {
    let place = store == .vault ? directory.file("vault") : directory
    var result: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: place.filePath)
    where name != "filler" {
      result[name] = (try? Data(contentsOf: place.file(name))) ?? Data()
    }
    return result
  }
}
