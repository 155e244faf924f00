import Foundation
import SteadPreferences
import Synchronization
import Testing

/// A process that keeps the journal's lock between its sets is stopped, and another one sets a value and ends.
@Suite(.ownThread) struct StoppedHolderTests {
  @Test func `a program that sets once and ends loses nothing`() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let board = directory.file("board")
    try Data(count: 8).write(to: board)
    let holder = try Worker(directory.url, ["burst", board.filePath])
    var seen = 0
    let programs = 1...Effort.times(8)
    for number in programs {
      // It has set enough to keep the lock.
      let start = seen
      while seen < start + 5_000 {
        seen = try Data(contentsOf: board).withUnsafeBytes { $0.loadUnaligned(as: Int.self) }
        sched_yield()
      }
      kill(holder.id, SIGSTOP)
      holder.waitUntilStopped()
      let program = try Worker(directory.url, ["set", "once.\(number)", "\(number)"])
      let lines = program.rest()
      #expect(program.finish() == 0)
      #expect(lines.allSatisfy { $0.contains("locked") }, "\(lines)")
      holder.resume()
    }
    holder.end()
    let contents = try Worker.contents(directory.url)
    for number in programs { #expect(contents["once.\(number)"] == "integer \(number)") }
    #expect(try directory.names.contains("domain.waiting") == false)
  }
}

/// A process that sets as fast as it can, and so keeps the journal's lock from one set to the next, is killed
/// or stopped.
@Suite(.ownThread) struct BurstTests {
  private let directory: TemporaryDirectory
  private let board: URL

  init() throws {
    directory = try TemporaryDirectory(inMemory: true)
    board = directory.file("board")
    try Data(count: 8).write(to: board)
  }

  /// What was reported.
  private final class Codes: Sendable {
    private let codes = Mutex<[PreferencesError.Code]>([])

    init(_ preferences: Preferences) {
      preferences.onError = { [weak self] error in self?.codes.withLock { $0.append(error.code) } }
    }

    var all: [PreferencesError.Code] { codes.withLock { $0 } }
  }

  private func count() throws -> Int {
    try Data(contentsOf: board).withUnsafeBytes { $0.loadUnaligned(as: Int.self) }
  }

  /// A worker that has made so many sets more.
  private func burst(_ sets: Int) throws -> Worker {
    let start = try count()
    let worker = try Worker(directory.url, ["burst", board.filePath])
    // Its numbers begin anew, behind which the old one is found until then.
    while try count() == start || count() < sets { sched_yield() }
    return worker
  }

  private func open() throws -> (Preferences, Codes) {
    let preferences = try Preferences(domain: "domain", directory: directory.url)
    return (preferences, Codes(preferences))
  }

  @Test func `a kill loses nothing and leaves the lock free`() throws {
    let (preferences, errors) = try open()
    for round in 1...(isThreadSanitized ? 3 : 20) {
      let worker = try burst(1_000 + 5_000 * round % 7_919)
      worker.end()
      let done = try count()
      preferences.set(round, forKey: "round")
      let numbers = (0..<100).map { preferences.integer(forKey: "burst.\($0)") }
      // A set that was not acknowledged may be there or not.
      let last = try #require(numbers.max())
      #expect(last == done || last == done + 1)
      #expect(numbers.sorted() == Array((last - 99)...last))
      #expect(try Worker.contents(directory.url)["round"] == "integer \(round)")
    }
    #expect(errors.all.isEmpty)
  }

  @Test func `a stop keeps others waiting no longer than the limit`() throws {
    let (preferences, errors) = try open()
    preferences.set(0, forKey: "own")
    let worker = try burst(5_000)
    kill(worker.id, SIGSTOP)
    var status: Int32 = 0
    try #require(waitpid(worker.id, &status, WUNTRACED) == worker.id)
    let done = try count()
    #expect((0..<100).contains { preferences.integer(forKey: "burst.\($0)") == done })
    // It waits once, and is told of that once. That it gets the lock is not impossible.
    for _ in 0..<1_000 { preferences.set(1, forKey: "own") }
    #expect(errors.all.count <= 1 && errors.all.allSatisfy { $0 == .locked })
    #expect(preferences.integer(forKey: "own") == 1)
    kill(worker.id, SIGCONT)
    let reported = errors.all.count
    for number in 2...100 { preferences.set(number, forKey: "own") }
    #expect(errors.all.count == reported)
    worker.end()
    #expect(try Worker.contents(directory.url)["own"] == "integer 100")
  }
}
