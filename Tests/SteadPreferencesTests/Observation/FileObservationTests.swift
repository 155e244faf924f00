import Foundation
import Observation
import Testing

@testable import SteadPreferences

/// Observers of a domain in files, and changes by others, which come by themselves.
@Suite(.hangLimit)
struct FileObservationTests {
  let directory: TemporaryDirectory
  let preferences: Preferences

  init() throws {
    directory = try TemporaryDirectory()
    preferences = try Preferences(domain: "app", directory: directory.url)
  }

  /// A store of its own on the same files has its own journal and locks, as another process has.
  private func other() throws -> DomainStore {
    try DomainStore("app", directory: directory.url, options: DomainStore.Options())
  }

  @Test func `changes of others come`() async throws {
    try preferences.set(1, "key")
    var changes = preferences.changes(for: "key").makeAsyncIterator()
    let other = try other()
    for number in 2...20 {
      try other.set(number, forKey: "key")
      let change = try #require(await changes.next())
      #expect(
        change
          == Change(
            key: "key", old: .integer(Int64(number - 1)), new: .integer(Int64(number)),
            isOwn: false))
    }
    try other.set(nil, forKey: "key")
    #expect(try #require(await changes.next()).new == nil)
  }

  @Test func `the last of many changes comes`() async throws {
    let changes = preferences.changes
    let other = try other()
    for number in 1...2_000 { try other.set(number, forKey: "key \(number % 5)") }
    try other.set(0, forKey: "end")
    var seen: [String: PropertyList] = [:]
    for await change in changes {
      #expect(change.old == seen[change.key] && !change.isOwn)
      seen[change.key] = change.new
      if change.key == "end" { break }
    }
    // All keys were first set before the last one of all, and come in that order.
    #expect(seen.count == 6)
    var rest = preferences.changes(for: Array(seen.keys)).makeAsyncIterator()
    for (key, value) in seen where value != preferences.propertyList(forKey: key) {
      Issue.record("\(key) ended at \(value)")
    }
    try other.set(7, forKey: "key 1")
    #expect(try #require(await rest.next()).new == .integer(7))
  }

  @Test func `own changes are left out if asked`() async throws {
    var changes = preferences.changes(for: "key", includingOwn: false).makeAsyncIterator()
    let other = try other()
    for number in 1...10 {
      try preferences.set(number, "key")
      try other.set(number + 100, forKey: "key")
      let change = try #require(await changes.next())
      #expect(change.new == .integer(Int64(number) + 100) && !change.isOwn)
    }
  }

  @Test func `edits by hand come`() async throws {
    try preferences.set(1, "key")
    #expect(preferences.synchronize())
    let changes = preferences.changes(for: ["key", "new"])
    let plist: [String: Any] = ["key": 2, "new": "text"]
    let data = try PropertyListSerialization.data(
      fromPropertyList: plist, format: .binary, options: 0)
    try data.write(to: directory.file("app.plist"), options: .atomic)
    var seen: [String: PropertyList] = [:]
    for await change in changes {
      #expect(!change.isOwn)
      seen[change.key] = change.new
      if seen.count == 2 { break }
    }
    #expect(seen == ["key": .integer(2), "new": .string("text")])
  }

  @Test func `tracking sees changes of others`() async throws {
    try preferences.set(1, "n")
    let other = try other()
    for number in 2...10 {
      let (told, tell) = AsyncStream.makeStream(of: Void.self)
      let value = withObservationTracking {
        preferences.number("n")
      } onChange: {
        tell.yield()
      }
      #expect(value == number - 1)
      try other.set(number, forKey: "other")
      try other.set(number, forKey: "n")
      for await _ in told { break }
      #expect(preferences.number("n") == number)
    }
  }

  /// A read may find what others wrote before the watcher does; observers are told all the same.
  @Test func `what a read finds is told`() async throws {
    var changes = preferences.changes(for: "key").makeAsyncIterator()
    let other = try other()
    for number in 1...100 {
      try other.set(number, forKey: "key")
      #expect(preferences.number("key") == number)
      #expect(try #require(await changes.next()).new == .integer(Int64(number)))
    }
  }

  @Test func `nobody is woken once nobody observes`() throws {
    let store = preferences.search.list.target
    let observation = preferences.observe("key") { _ in }
    #expect(store.handlerCount == 1)
    observation.cancel()
    #expect(store.handlerCount == 0)
  }
}
