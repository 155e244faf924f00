import CForkSupport
import Foundation
import Testing

@testable import SteadFiles

@Suite struct AtomicFileCrashTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  let old = Data("old".utf8)
  let new = Data("new contents".utf8)

  @Test func `every step of a replacement may be its last`() throws {
    let file = AtomicFile(directory.file("a"))
    var crashes = 0
    while true {
      try file.replace(with: old, permissions: .everyoneReads)
      let disk = CrashingDisk(after: crashes)
      do {
        try AtomicFile(file.url, disk: disk).replace(with: new)
        break
      } catch is CrashingDisk.Crash {
        let found = try file.read()
        #expect(found == (disk.calls.contains("rename") ? new : old), "after \(disk.calls)")
        crashes += 1
      }
    }
    #expect(crashes == 6, "create, write, set mode, sync, rename, sync directory")
    // Each of those crashes left a temporary file, and each write that came next cleared it away.
    #expect(try directory.names == ["a"])
  }

  @Test func `every step of a creation may be its last`() throws {
    var crashes = 0
    while true {
      let file = AtomicFile(directory.file("\(crashes)"))
      let disk = CrashingDisk(after: crashes)
      do {
        try AtomicFile(file.url, disk: disk).create(with: new)
        break
      } catch is CrashingDisk.Crash {
        #expect(try file.readIfPresent() == (disk.calls.contains("link") ? new : nil))
        crashes += 1
      }
    }
    #expect(crashes == 5, "create, write, sync, link, sync directory")
  }

  @Test func `clears away what the dead left and not what the living need`() throws {
    let stale = CrashingDisk(after: 2)
    #expect(throws: CrashingDisk.Crash.self) {
      try AtomicFile(directory.file("dead"), disk: stale).replace(with: new)
    }
    let living = try TemporaryFile(beside: directory.file("living").filePath, on: POSIXDisk())
    try Data().write(to: directory.file(".theirs.stead-notes"))
    #expect(
      try directory.names == [".dead.stead-0", ".living.stead-0", ".theirs.stead-notes"])

    #expect(try AtomicFile.removeStaleTemporaries(in: directory.url) == 1)

    #expect(try directory.names == [".living.stead-0", ".theirs.stead-notes"])
    living.finish()
    #expect(try directory.names == [".theirs.stead-notes"])
  }

  @Test func `a writer that lives keeps its temporary file`() throws {
    let path = directory.file("a").filePath
    let slow = try TemporaryFile(beside: path, on: POSIXDisk())
    try AtomicFile(directory.file("a")).replace(with: new)
    #expect(try directory.names == ["a", ".a.stead-0"])
    slow.finish()
    #expect(try AtomicFile(directory.file("a")).read() == new)
  }

  @Test func `a writer that ends leaves another's temporary file alone`() throws {
    // Once renamed, the name of a temporary file is free, and the next writer may have it.
    let path = directory.file("a").filePath
    let first = try TemporaryFile(beside: path, on: POSIXDisk())
    try POSIXDisk().rename(first.path, to: path)
    let second = try TemporaryFile(beside: path, on: POSIXDisk())
    #expect(second.path == first.path)
    first.finish()
    #expect(try directory.names == ["a", ".a.stead-0"])
    second.finish()
  }

  @Test(.exitTests, .hangLimit)
  func `killed processes leave the old file or the new`() async throws {
    let path = directory.file("a").filePath
    let size = 50_000
    try AtomicFile(URL(filePath: path)).replace(with: Data(repeating: 0, count: size))
    for round in 0..<30 {
      let delay = UInt32(round * 150)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, size = size as Int, delay = delay as UInt32] in
        let file = AtomicFile(URL(filePath: path))
        var byte: UInt8 = 0
        try file.replace(with: Data(repeating: byte, count: size), durability: .none)
        Thread.detachNewThread {
          // Nobody waits for anything here: it spreads the kills over the time of a write.
          usleep(delay)
          kill(getpid(), SIGKILL)
        }
        while true {
          byte &+= 1
          try file.replace(with: Data(repeating: byte, count: size), durability: .file)
        }
      }
      let found = try AtomicFile(URL(filePath: path)).read()
      #expect(found.count == size && Set(found).count == 1)
    }
    try AtomicFile(URL(filePath: path)).replace(with: Data())
    #expect(try directory.names == ["a"])
  }

  @Test(.exitTests, .hangLimit)
  func `processes that update one file lose nothing`() async throws {
    let path = directory.file("counter").filePath
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask {
          await #expect(processExitsWith: .success) { [path = path as String] in
            let file = AtomicFile(URL(filePath: path))
            for _ in 0..<100 {
              try file.update(durability: .none, attempts: 10_000) { contents in
                let count = contents.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
                return Data("\(count + 1)".utf8)
              }
            }
          }
        }
      }
    }
    #expect(try AtomicFile(URL(filePath: path)).read() == Data("300".utf8))
    #expect(try directory.names == ["counter"])
  }

  /// The directory's lock belongs to the open file, which a forked child shares: all writers in the
  /// directory had to wait for the child's end.
  @Test(.exitTests, .hangLimit)
  func `a fork during a write holds nobody up`() async throws {
    let place = directory.url.filePath
    await #expect(processExitsWith: .success) { [place = place as String] in
      alarm(240)
      let end = Pipe()
      let child = try POSIXDisk().withLockedDirectory(place) { _ in
        let child = stead_test_fork()
        if child == 0 {
          // Ends when the parent lets go of the other end.
          try end.fileHandleForWriting.close()
          _ = try end.fileHandleForReading.read(upToCount: 1)
          stead_test_exit(7)
        }
        return child
      }
      try AtomicFile(URL(filePath: place).appending(path: "a")).replace(with: Data())
      try end.fileHandleForWriting.close()
      #expect(stead_test_wait(child) == 7)
    }
  }

  @Test(.needs(.smallDisk))
  func `a full disk is an error and the old file stays`() throws {
    let disk = try SmallDisk()
    let file = AtomicFile(disk.directory.file("a"))
    try file.replace(with: old)
    try disk.fill(leaving: 8192)

    let failure = #expect(throws: FileError.self) {
      try file.replace(with: Data(repeating: 1, count: 100_000))
    }

    #expect(failure?.code == .noSpace)
    #expect(try file.read() == old)
    #expect(try disk.directory.names == ["a", "filler"])
    try disk.empty()
    try file.replace(with: Data(repeating: 1, count: 100_000))
    #expect(try file.read().count == 100_000)
  }

  @Test(.needs(.ordinaryUser))
  func `a directory that may only be read is an error`() throws {
    let file = AtomicFile(directory.file("a"))
    try file.replace(with: old)
    try directory.url.setMode(0o500)
    defer { try? directory.url.setMode(0o700) }
    let failure = #expect(throws: FileError.self) { try file.replace(with: new) }
    #expect(failure?.code == .denied)
    #expect(try file.read() == old)
  }
}
