import Foundation
import Synchronization
import Testing

@testable import SteadFiles

/// How many are within what a lock guards.
private final class Entered: Sendable { let count = Atomic(0) }

@Suite(.hangLimit) struct FileLockTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private var lock: FileLock { FileLock(directory.file("lock")) }

  /// One that looks only when it is called.
  private var attentive: FileLock { FileLock(directory.file("lock"), pauses: [.seconds(3600)]) }

  private func isFree(_ mode: FileLock.Mode = .exclusive) throws -> Bool {
    try lock.withLockIfAvailable(mode) { true } == true
  }

  @Test func `excludes everyone else`() throws {
    let wasFree = try lock.withLock { try isFree() }
    #expect(!wasFree)
    #expect(try lock.withLockIfAvailable { "had it" } == "had it")
    #expect(try directory.file("lock").mode == 0o600)
  }

  @Test func `lets readers in together`() throws {
    try lock.withLock(.shared) {
      let (shared, exclusive) = (try isFree(.shared), try isFree(.exclusive))
      #expect(shared && !exclusive)
    }
    try lock.withLock(.exclusive) {
      let isFree = try isFree(.shared)
      #expect(!isFree)
    }
  }

  @Test func `is free again after an error`() throws {
    #expect(throws: CancellationError.self) { try lock.withLock { throw CancellationError() } }
    #expect(try isFree())
  }

  @Test func `excludes the threads of a process`() throws {
    let (lock, file) = (lock, directory.file("count"))
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<50 {
        try? lock.withLock {
          let count = (try? Data(contentsOf: file)).map { String(decoding: $0, as: UTF8.self) }
          try Data("\((count.flatMap(Int.init) ?? 0) + 1)".utf8).write(to: file)
        }
      }
    }
    #expect(try Data(contentsOf: file) == Data("400".utf8))
  }

  @Test func `excludes tasks over their suspensions`() async throws {
    let lock = lock
    let entered = Entered()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          try await lock.withLock(timeout: nil) {
            let count = entered.count.wrappingAdd(1, ordering: .relaxed).newValue
            #expect(count == 1)
            await Task.yield()
            entered.count.wrappingSubtract(1, ordering: .relaxed)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try isFree())
  }

  @Test func `comes as soon as it is called`() async throws {
    let (lock, attentive) = (lock, attentive)
    let (held, holding) = AsyncStream<Void>.makeStream()
    let (leave, leaving) = AsyncStream<Void>.makeStream()
    let holder = Task {
      try await lock.withLock(timeout: nil) {
        holding.yield()
        for await _ in leave { break }
      }
    }
    for await _ in held { break }
    let waiter = Task { try await attentive.withLock(.shared, timeout: nil) { true } }
    // Whether or not it waits by then.
    await Task.yield()
    leaving.yield()
    #expect(try await waiter.value)
    try await holder.value
  }

  @Test func `gives up in time`() async throws {
    let lock = lock
    let error = await #expect(throws: FileError.self) {
      try await lock.withLock(.shared, timeout: nil) {
        try await lock.withLock(timeout: .milliseconds(20)) {}
      }
    }
    #expect(error?.code == .busy)
    #expect(try isFree())
    let result = try await lock.withLock(timeout: .zero) { "free" }
    #expect(result == "free")
  }

  @Test func `gives up with its task`() async throws {
    let attentive = attentive
    try await lock.withLock(timeout: nil) {
      let waiter = Task { try await attentive.withLock(timeout: nil) {} }
      await Task.yield()
      waiter.cancel()
      await #expect(throws: CancellationError.self) { try await waiter.value }
    }
    #expect(try isFree())
  }

  @Test func `is one lock by every path`() throws {
    let link = directory.file("link")
    try FileManager.default.createSymbolicLink(
      atPath: link.filePath, withDestinationPath: "lock")
    try FileLock(link).withLock {
      let isFree = try isFree()
      #expect(link.isSymbolicLink && !isFree)
    }
  }

  /// A lock on a file that is no longer there excludes nobody who comes later.
  @Test func `locks the file that is there in the end`() throws {
    let (lock, file, count) = (lock, directory.file("lock"), directory.file("count"))
    let opened = try OpenLockFile(file.filePath)
    #expect(try opened.isCurrent)
    try FileManager.default.removeItem(at: file)
    #expect(try !opened.isCurrent)
    try lock.withLock {}
    #expect(try !opened.isCurrent)
    opened.release()
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<50 {
        try? lock.withLock {
          let old = (try? Data(contentsOf: count)).map { String(decoding: $0, as: UTF8.self) }
          try Data("\((old.flatMap(Int.init) ?? 0) + 1)".utf8).write(to: count)
          // As the last thing, since the next one to come has a new file and does not wait.
          try FileManager.default.removeItem(at: file)
        }
      }
    }
    #expect(try Data(contentsOf: count) == Data("400".utf8))
  }

  @Test func `says what cannot be locked`() throws {
    func code(_ url: URL) -> FileError.Code? {
      #expect(throws: FileError.self) { try FileLock(url).withLock {} }?.code
    }
    #expect(code(directory.file("no/such/place")) == .notFound)
    #expect(code(directory.url) == .notAFile)
    #expect(mkfifo(directory.file("pipe").filePath, 0o600) == 0)
    #expect(code(directory.file("pipe")) == .notAFile)
    #expect(code(directory.file("a\0b")) == .invalidName)
    #expect(try directory.names == ["pipe"])
  }

  @Test(.needs(.ordinaryUser))
  func `locks a file that may only be read`() throws {
    try Data().write(to: directory.file("lock"))
    try directory.file("lock").setMode(0o400)
    let wasFree = try lock.withLock { try isFree() }
    #expect(!wasFree)
  }
}
