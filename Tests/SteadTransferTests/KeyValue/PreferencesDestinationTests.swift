import Foundation
import SteadPreferences
import Testing

@testable import SteadTransfer

/// Preferences that take what is moved.
struct PreferencesDestinationTests {
  private let moving: Moving

  init() throws { moving = try Moving() }

  @Test func `a key that holds something else is a conflict`() throws {
    moving.put("one", "two", "three")
    moving.destination.set("theirs", forKey: "key.two")
    moving.destination.set("three", forKey: "key.three")
    let error = try #require(throws: TransferError.self) { try transfer { "key.\($0)" }.run() }
    #expect(error.code == .conflict)
    #expect(error.failures.map(\.item) == ["drafts[1]"])
    #expect(!error.description.contains("theirs"))
    #expect(moving.left == ["one", "two", "three"])
    #expect(moving.destination.keys == ["key.three", "key.two"])
    // What was there as it is to be counts as written.
    moving.destination.removeObject(forKey: "key.two")
    #expect(try transfer { "key.\($0)" }.run().moved == 3)
    #expect(moving.destination.string(forKey: "key.two") == "two")
  }

  @Test func `two items for one key are a conflict`() throws {
    moving.put("one", "one")
    let error = try #require(throws: TransferError.self) { try transfer { "key.\($0)" }.run() }
    #expect(error.code == .conflict)
    #expect(moving.left == ["one", "one"])
    #expect(moving.destination.keys.isEmpty)
  }

  @Test func `the keys of receipts are taken`() throws {
    moving.put("one")
    let error = try #require(throws: TransferError.self) {
      try transfer { _ in PreferencesDestination.receiptPrefix + "drafts" }.run()
    }
    #expect(error.code == .conflict)
    #expect(moving.destination.keys.isEmpty)
  }

  @Test func `a domain may move its own keys`() throws {
    moving.put("one", "two")
    let report = try Transfer(
      "drafts", from: .preference("drafts", of: String.self, in: moving.source),
      to: .preferences(moving.source)
    ) { PreferenceEntry(key: "key.\($0)", value: .string($0)) }.run()
    #expect((report.moved, report.removed) == (2, 2))
    #expect(
      moving.source.keys
        == ["key.one", "key.two", PreferencesDestination.receiptPrefix + "drafts"])
  }

  /// The value would be found in its place, and then be removed there.
  @Test func `a source is not moved onto itself`() throws {
    moving.source.set("one", forKey: "drafts")
    let again = try Moving.open("org.example.old", moving.home, options: .init(quota: 1 << 20))
    for destination in [moving.source, again].map(PreferencesDestination.init) {
      let key = PreferenceSource<String>("drafts", in: moving.source)
      let errors = [
        #expect(throws: TransferError.self) {
          try Transfer("a", from: TransferSource(key), to: TransferDestination(destination)) {
            PreferenceEntry(key: "drafts", value: .string($0))
          }
          .run()
        },
        #expect(throws: TransferError.self) {
          try Transfer("b", from: .preferences(moving.source), to: TransferDestination(destination))
          { $0 }.run()
        },
      ]
      #expect(errors.map { $0?.code } == [.conflict, .conflict])
    }
    #expect(moving.source.keys == ["drafts"])
    #expect(moving.source.string(forKey: "drafts") == "one")
  }

  @Test func `preferences in memory are a place too`() throws {
    let memory = Preferences.inMemory()
    moving.put("one")
    try Transfer(
      "drafts", from: .preference("drafts", of: String.self, in: moving.source),
      to: .preferences(memory)
    ) { PreferenceEntry(key: "key.\($0)", value: .string($0)) }.run()
    #expect(memory.string(forKey: "key.one") == "one")
    #expect(moving.left.isEmpty)
  }

  @Test func `a quota refuses items and receipt alike`() throws {
    moving.put("one", String(repeating: "x", count: 2000))
    let small = try Moving.open("org.example.small", moving.home, options: .init(quota: 1500))
    let error = try #require(throws: TransferError.self) { try moving.transfer(to: small).run() }
    #expect((error.cause as? PreferencesError)?.code == .quotaExceeded)
    #expect(small.keys.isEmpty)
    #expect(moving.left.count == 2)
  }

  /// Defaults, arguments and other domains hold nothing that could be moved.
  @Test func `only the domain itself is a source`() throws {
    moving.source.register(defaults: ["drafts": ["a default"]])
    #expect(try moving.transfer().run().read == 0)
    moving.source.set("one text", forKey: "drafts")
    #expect(try moving.transfer().run().moved == 1)
    #expect(try moving.moved() == ["one text"])
  }

  private func transfer(
    _ key: @escaping @Sendable (String) -> String
  ) -> Transfer<String, PreferenceEntry> {
    Transfer(
      "drafts", from: .preference("drafts", in: moving.source),
      to: .preferences(moving.destination)
    ) { PreferenceEntry(key: key($0), value: .string($0)) }
  }
}
