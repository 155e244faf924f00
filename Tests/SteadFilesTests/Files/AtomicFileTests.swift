import Foundation
import Testing

@testable import SteadFiles

@Suite struct AtomicFileTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  let old = Data("old".utf8)
  let new = Data("new contents".utf8)

  private func code(_ body: () throws -> Void) -> FileError.Code? {
    do {
      try body()
      return nil
    } catch { return (error as? FileError)?.code }
  }

  @Test(arguments: AtomicFile.Durability.allCases)
  func `replaces a file and leaves nothing beside`(durability: AtomicFile.Durability) throws {
    let file = AtomicFile(directory.file("a"))
    try file.replace(with: old, durability: durability)
    try file.replace(with: new, durability: durability)
    #expect(try file.read() == new)
    #expect(try directory.names == ["a"])
  }

  @Test(arguments: [0, 1, 4095, 4096, 4097, 1_000_003])
  func `reads what was written at every size`(count: Int) throws {
    let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let file = AtomicFile(directory.file("a"))
    try file.replace(with: data)
    #expect(try file.read() == data)
  }

  @Test func `says when there is no file`() throws {
    let file = AtomicFile(directory.file("missing"))
    #expect(try file.readIfPresent() == nil)
    #expect(code { _ = try file.read() } == .notFound)
    #expect(
      code { try AtomicFile(directory.file("no/such/place")).replace(with: new) } == .notFound)
  }

  @Test func `refuses what is not a plain file`() throws {
    let here = AtomicFile(directory.url)
    #expect(code { _ = try here.read() } == .notAFile)
    #expect(code { try here.replace(with: new) } == .notAFile)
    let pipe = directory.file("pipe")
    #expect(mkfifo(pipe.filePath, 0o600) == 0)
    #expect(code { _ = try AtomicFile(pipe).read() } == .notAFile)
    #expect(code { try AtomicFile(pipe).replace(with: new) } == .notAFile)
  }

  @Test func `refuses a URL that is no file`() throws {
    let elsewhere = try #require(URL(string: "https://example.com/a"))
    #expect(code { _ = try AtomicFile(elsewhere).read() } == .invalidName)
    // The system would cut this name at its NUL, and the write would go to "a".
    let cut = AtomicFile(directory.url.appending(path: "a\0b"))
    #expect(code { try cut.replace(with: new) } == .invalidName)
    #expect(try directory.names == [])
  }

  @Test(.needs(.file("/proc/self/status"))) func `reads a file that the kernel makes up`() throws {
    // Such files say that they are 0 bytes long.
    let status = try AtomicFile(URL(filePath: "/proc/self/status")).read()
    #expect(status.starts(with: Data("Name:".utf8)))
  }

  /// Settings of the kernel answer the first read with all they hold and every other with nothing; a
  /// first read of one byte made 16384 a 1.
  @Test(.needs(.file("/proc/sys/kernel/pid_max")))
  func `reads a setting of the kernel whole`() throws {
    let setting = AtomicFile(URL(filePath: "/proc/sys/kernel/pid_max"))
    #expect(try setting.read().last == UInt8(ascii: "\n"))
  }

  @Test(arguments: [0o600, 0o644, 0o640, 0o666, 0o400])
  func `keeps the old file's permissions`(mode: Int) throws {
    // Foundation's atomic write makes a file that only its owner could read readable by everyone.
    let file = AtomicFile(directory.file("a"))
    try file.replace(with: old)
    try file.url.setMode(mode)
    try file.replace(with: new)
    #expect(try file.url.mode == mode)
  }

  @Test func `makes a new file for its owner unless told`() throws {
    try AtomicFile(directory.file("private")).replace(with: new)
    try AtomicFile(directory.file("public")).replace(with: new, permissions: .everyoneReads)
    #expect(try directory.file("private").mode == 0o600)
    #expect(try directory.file("public").mode == 0o644)
  }

  @Test(.needs(.superuser))
  func `keeps the old file's owner`() throws {
    let file = AtomicFile(directory.file("a"))
    try file.replace(with: old)
    #expect(chown(file.url.filePath, 12, 34) == 0)
    try file.replace(with: new, permissions: .everyoneReads)
    let status = try #require(try POSIXDisk().status(at: file.url.filePath))
    #expect(status.user == 12 && status.group == 34 && status.mode == 0o644)
  }

  @Test func `follows symbolic links and keeps them`() throws {
    // Foundation's atomic write puts a plain file in the place of the link.
    let manager = FileManager.default
    try manager.createDirectory(at: directory.file("dotfiles"), withIntermediateDirectories: false)
    let target = directory.file("dotfiles/settings")
    try old.write(to: target)
    let relative = directory.file("relative")
    try manager.createSymbolicLink(
      atPath: relative.filePath, withDestinationPath: "dotfiles/settings")
    let chained = directory.file("chained")
    try manager.createSymbolicLink(atPath: chained.filePath, withDestinationPath: relative.filePath)

    try AtomicFile(chained).replace(with: new)

    #expect(try Data(contentsOf: target) == new)
    #expect(chained.isSymbolicLink && relative.isSymbolicLink && !target.isSymbolicLink)
    #expect(try directory.names == ["dotfiles", "relative", "chained"])
  }

  @Test func `writes through a link that leads nowhere yet`() throws {
    let link = directory.file("link")
    try FileManager.default.createSymbolicLink(
      atPath: link.filePath, withDestinationPath: "target")
    try AtomicFile(link).replace(with: new)
    #expect(link.isSymbolicLink)
    #expect(try AtomicFile(directory.file("target")).read() == new)
  }

  @Test func `refuses links that go in a circle`() throws {
    for (from, to) in [("a", "b"), ("b", "a")] {
      try FileManager.default.createSymbolicLink(
        atPath: directory.file(from).filePath, withDestinationPath: to)
    }
    #expect(code { try AtomicFile(directory.file("a")).replace(with: new) } == .failed)
  }

  @Test func `takes the longest name there is`() throws {
    let file = AtomicFile(directory.file(String(repeating: "n", count: 255)))
    try file.replace(with: new)
    #expect(try file.read() == new)
    let tooLong = AtomicFile(directory.file(String(repeating: "n", count: 256)))
    #expect(code { try tooLong.replace(with: new) } == .invalidName)
  }

  @Test func `creates only where there is nothing`() throws {
    let file = AtomicFile(directory.file("a"))
    try file.create(with: old)
    #expect(code { try file.create(with: new) } == .alreadyExists)
    #expect(try file.read() == old)
    #expect(try file.url.mode == 0o600)
    #expect(try directory.names == ["a"])
  }

  @Test func `one of many creators succeeds`() async throws {
    let url = directory.file("a")
    let winners = await withTaskGroup(of: Data?.self) { group in
      for number in 0..<16 {
        group.addTask {
          let data = Data("\(number)".utf8)
          do {
            try AtomicFile(url).create(with: data, durability: .none)
            return data
          } catch { return nil }
        }
      }
      return await group.reduce(into: [Data]()) { if let data = $1 { $0.append(data) } }
    }
    #expect(winners.count == 1)
    #expect(try AtomicFile(url).read() == winners.first)
    #expect(try directory.names == ["a"])
  }

  @Test func `swaps only what was read`() throws {
    let file = AtomicFile(directory.file("a"))
    try file.replace(nil, with: old)
    #expect(code { try file.replace(nil, with: new) } == .changed)
    #expect(code { try file.replace(Data("other".utf8), with: new) } == .changed)
    #expect(try file.read() == old)
    try file.replace(old, with: new)
    #expect(try file.read() == new)
    #expect(try directory.names == ["a"])
  }

  @Test func `leaves the file when an update has nothing to change`() throws {
    let disk = CrashingDisk(after: .max)
    let file = AtomicFile(directory.file("a"), disk: disk)
    #expect(try file.update { _ in nil } == nil)
    #expect(disk.calls.isEmpty)
  }

  @Test func `gives up an update that others keep from happening`() throws {
    let file = AtomicFile(directory.file("a"))
    var tries = 0
    let failure = code {
      try file.update(attempts: 3) { contents in
        tries += 1
        try file.replace(with: Data("\(tries)".utf8))
        return new
      }
    }
    #expect(failure == .busy)
    #expect(tries == 3)
  }

  @Test func `syncs the contents before the name and the name after`() throws {
    let expected: [AtomicFile.Durability: [String]] = [
      .none: ["create", "write", "rename"],
      .file: ["create", "write", "sync file", "rename"],
      .full: ["create", "write", "sync file", "rename", "sync directory"],
    ]
    for (durability, calls) in expected {
      let disk = CrashingDisk(after: .max)
      try AtomicFile(directory.file("a"), disk: disk).replace(with: new, durability: durability)
      #expect(disk.calls == calls)
    }
  }
}
