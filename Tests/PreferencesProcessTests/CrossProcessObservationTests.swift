import Foundation
import SteadPreferences
import Testing

/// What one process sets is told to the observers of another.
@Suite(.ownThread) struct CrossProcessObservationTests {
  /// Each waits for the other's word before it sets the next: none may be lost.
  @Test func `two processes answer each other`() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let (left, right) = (try Following(directory), try Following(directory))
    for round in 1...100 {
      left.worker.send("set ping \(round)")
      try right.until("other ping integer \(round)")
      right.worker.send("set pong \(round)")
      try left.until("other pong integer \(round)")
      // The files are new ones after this.
      if round % 10 == 0 { try left.send("synchronize", until: "true") }
    }
    #expect(left.errors() == [])
    #expect(right.errors() == [])
  }

  @Test func `every key of many is told`() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let (writer, observer) = (try Following(directory), try Following(directory))
    let count = 500
    try writer.send("hammer key \(count)", until: "hammered")
    var missing = Set((0..<count).map { "other key.\($0) integer \($0)" })
    while !missing.isEmpty {
      let line = try #require(observer.worker.line(), "\(missing.count) of \(count) are missing")
      #expect(missing.remove(line) != nil, "\(line)")
    }
    #expect(writer.errors() == [])
    #expect(observer.errors() == [])
  }

  @Test(.hangLimit)
  func `an async sequence has the changes`() async throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let preferences = try Preferences(domain: "domain", directory: directory.url)
    preferences.set(0, forKey: "key")
    var changes = preferences.changes(for: "key", includingOwn: false).makeAsyncIterator()
    let writer = try Following(directory)
    for number in 1...20 {
      writer.worker.send("set key \(number)")
      let change = try #require(await changes.next())
      #expect(change.key == "key")
      #expect(change.old == .integer(Int64(number - 1)))
      #expect(change.new == .integer(Int64(number)))
      #expect(!change.isOwn)
      try writer.until("own key integer \(number)")
    }
    #expect(writer.errors() == [])
  }
}
