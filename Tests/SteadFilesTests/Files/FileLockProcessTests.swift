import CForkSupport
import Foundation
import Testing

@testable import SteadFiles

@Suite(.hangLimit) struct FileLockProcessTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test(.exitTests) func `processes that count under one lock lose nothing`() async throws {
    let place = directory.url.filePath
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask {
          await #expect(processExitsWith: .success) { [place = place as String] in
            let directory = URL(filePath: place)
            let lock = FileLock(directory.appending(path: "lock"))
            let file = directory.appending(path: "count")
            for round in 0..<100 {
              let count = {
                let old = (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) }
                try Data("\((old.flatMap(Int.init) ?? 0) + 1)".utf8).write(to: file)
              }
              // Those who block and those who suspend.
              if round.isMultiple(of: 2) {
                try blocking { try lock.withLock(.exclusive, count) }
              } else {
                try await lock.withLock(timeout: nil) { try count() }
              }
            }
          }
        }
      }
    }
    #expect(try Data(contentsOf: directory.file("count")) == Data("300".utf8))
  }

  @Test(.exitTests) func `goes with a process that is killed`() async throws {
    let lock = FileLock(directory.file("lock"))
    let place = directory.url.filePath
    var reports = try FileWatcher(file: directory.file("report")).makeAsyncIterator()
    async let killed = #expect(processExitsWith: .signal(SIGKILL)) { [place = place as String] in
      let directory = URL(filePath: place)
      alarm(240)  // In case that the test is stopped.
      try blocking {
        try FileLock(directory.appending(path: "lock")).withLock {
          try AtomicFile(directory.appending(path: "report")).create(with: Data("\(getpid())".utf8))
          while true { pause() }
        }
      }
    }
    var report: Data?
    while report == nil {
      _ = try #require(await reports.next())
      report = try AtomicFile(directory.file("report")).readIfPresent()
    }
    let process = try #require(report.flatMap { Int32(String(decoding: $0, as: UTF8.self)) })
    #expect(try lock.withLockIfAvailable { true } == nil)
    let waiter = Task { try await lock.withLock(timeout: nil) { true } }
    #expect(kill(process, SIGKILL) == 0)
    #expect(try await waiter.value)
    _ = await killed
  }

  /// The lock belongs to the open file, which parent and child would share: it would outlive a parent
  /// that is killed for as long as the child runs.
  @Test(.exitTests) func `does not pass to the child of a fork`() async throws {
    let place = directory.url.filePath
    await #expect(processExitsWith: .success) { [place = place as String] in
      let lock = FileLock(URL(filePath: place).appending(path: "lock"))
      let (alive, end) = (Pipe(), Pipe())
      let parent = stead_test_fork()
      if parent == 0 {
        try blocking {
          try lock.withLock {
            if stead_test_fork() == 0 {
              alive.fileHandleForWriting.write(Data([1]))
              // Ends when the test lets go of the other end, at the latest with its process.
              try end.fileHandleForWriting.close()
              _ = try end.fileHandleForReading.read(upToCount: 1)
              stead_test_exit(0)
            }
            kill(getpid(), SIGKILL)
          }
        }
      }
      #expect(stead_test_wait(parent) == -SIGKILL)
      #expect(try alive.fileHandleForReading.read(upToCount: 1) == Data([1]))
      #expect(try blocking { try lock.withLockIfAvailable { true } } == true)
      try end.fileHandleForWriting.close()
    }
  }

  @Test(.exitTests) func `stays with the parent of a fork`() async throws {
    let place = directory.url.filePath
    await #expect(processExitsWith: .success) { [place = place as String] in
      let lock = FileLock(URL(filePath: place).appending(path: "lock"))
      let statuses: [Int32] = try blocking {
        var child: pid_t = 0
        var opened: Int32 = 0
        let status = try lock.withLock {
          child = stead_test_fork()
          // In the child this gets the number that the lock's file had.
          opened = open("/dev/null", O_RDONLY)
          return child == 0 ? 0 : stead_test_wait(child)
        }
        // The child has left the parent's lock, which must neither free it nor close what is now open
        // in its place, and asks for its own.
        if child == 0 {
          let isHeld = try lock.withLockIfAvailable { true } == nil
          stead_test_exit(isHeld && fcntl(opened, F_GETFD) >= 0 ? 7 : 8)
        }
        return [status, try lock.withLockIfAvailable { 9 } ?? 10]
      }
      #expect(statuses == [7, 9])
    }
  }

  @Test(.exitTests) func `a child may ask for a lock that the parent has had`() async throws {
    let place = directory.url.filePath
    await #expect(processExitsWith: .success) { [place = place as String] in
      let lock = FileLock(URL(filePath: place).appending(path: "lock"))
      try blocking {
        try lock.withLock {}
        let child = stead_test_fork()
        if child == 0 {
          let result = (try? lock.withLock { Int32(7) }) ?? 8
          stead_test_exit(result)
        }
        #expect(stead_test_wait(child) == 7)
      }
    }
  }
}

/// Lets asynchronous code call what holds its thread.
private func blocking<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }
