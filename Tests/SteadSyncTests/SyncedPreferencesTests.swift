import Foundation
import SteadPreferences
import SteadSync
import SteadTestSupport
import Testing

extension Preferences.Keys {
  fileprivate var theme: Preferences.Key<String> { .init("theme", default: "light") }
  fileprivate var size: Preferences.Key<Int?> { .init("size") }
}

/// Preferences of which some keys are the same on all devices.
@Suite(.hangLimit) struct SyncedPreferencesTests {
  /// A device with preferences, a store and an engine.
  private final class Device {
    static let keys = ["theme", "size", "flag"]
    let preferences = Preferences.inMemory()
    let store = SyncedKeyValueStore.inMemory()
    let engine: SyncEngine
    var synced: SyncedPreferences?

    init(_ server: LocalSyncServer) throws {
      engine = try SyncEngine(keyValueStores: ["settings": store], transport: server)
    }

    func link() { synced = SyncedPreferences(preferences, in: store, keys: Self.keys) }

    var content: [String: PropertyList] {
      var content: [String: PropertyList] = [:]
      for key in Self.keys { content[key] = preferences.propertyList(forKey: key) }
      return content
    }
  }

  private let server = LocalSyncServer()

  @Test func `typed keys travel and others stay`() async throws {
    let (one, two) = (try Device(server), try Device(server))
    one.synced = SyncedPreferences(one.preferences, in: one.store, \.theme, \.size)
    two.synced = SyncedPreferences(two.preferences, in: two.store, \.theme, \.size)
    one.preferences[\.theme] = "dark"
    one.preferences[\.size] = 7
    one.preferences.set(true, forKey: "own")
    try await one.engine.syncNow()
    try await two.engine.syncNow()
    #expect(two.preferences[\.theme] == "dark")
    #expect(two.preferences[\.size] == 7)
    #expect(two.preferences.object(forKey: "own") == nil)
    two.preferences[\.size] = nil
    try await two.engine.syncNow()
    try await one.engine.syncNow()
    #expect(one.preferences[\.size] == nil)
    #expect(one.store.object(forKey: "size") == nil)
    #expect(one.preferences[\.theme] == "dark")
  }

  @Test func `what changed without a link is found`() async throws {
    let (one, two) = (try Device(server), try Device(server))
    for device in [one, two] { device.link() }
    one.preferences.set("dark", forKey: "theme")
    one.preferences.set(1, forKey: "size")
    for device in [one, two, one] { try await device.engine.syncNow() }
    one.synced = nil
    one.preferences.set("high contrast", forKey: "theme")
    two.preferences.removeObject(forKey: "size")
    two.preferences.set(true, forKey: "flag")
    for device in [two, one] { try await device.engine.syncNow() }
    #expect(one.preferences.integer(forKey: "size") == 1, "nobody has linked it")
    one.link()
    for device in [one, two] { try await device.engine.syncNow() }
    #expect(two.preferences.string(forKey: "theme") == "high contrast")
    #expect(one.preferences.object(forKey: "size") == nil)
    #expect(one.preferences.bool(forKey: "flag"))
    #expect(one.content == two.content)
  }

  @Test func `the store's value stays where both have one`() async throws {
    let (one, two) = (try Device(server), try Device(server))
    one.preferences.set("dark", forKey: "theme")
    one.link()
    try await one.engine.syncNow()
    two.preferences.set("light", forKey: "theme")
    two.preferences.set(3, forKey: "size")
    try await two.engine.syncNow()
    two.link()
    #expect(two.preferences.string(forKey: "theme") == "dark")
    for device in [two, one] { try await device.engine.syncNow() }
    #expect(one.content == two.content)
    #expect(one.preferences.integer(forKey: "size") == 3)
  }

  @Test func `registered defaults are not sent`() throws {
    let one = try Device(server)
    one.preferences.register(defaults: ["theme": "registered"])
    one.link()
    #expect(one.store.object(forKey: "theme") == nil)
    one.preferences.set("dark", forKey: "theme")
    #expect(one.store.string(forKey: "theme") == "dark")
    one.preferences.removeObject(forKey: "theme")
    #expect(one.store.object(forKey: "theme") == nil)
  }

  /// One device at a time changes, everything is synced in between, and links come and go: every device has what a plain
  /// dictionary has.
  @Test(arguments: 0..<20)
  func `random changes of one at a time all arrive`(part: Int) async throws {
    var random = SplitMix(seed: Effort.seed &+ UInt64(part))
    let devices = [try Device(server), try Device(server), try Device(server)]
    for device in devices { device.link() }
    var expected: [String: PropertyList] = [:]
    for _ in 0..<30 {
      let device = devices[Int.random(in: 0..<3, using: &random)]
      let hadLink = device.synced != nil
      if Bool.random(using: &random) { device.synced = nil }
      for _ in 0..<Int.random(in: 0..<4, using: &random) {
        let key = Device.keys[Int.random(in: 0..<3, using: &random)]
        let value = Int.random(in: 0..<3, using: &random)
        expected[key] = value == 0 ? nil : PropertyList.integer(Int64(value))
        try device.preferences.setPropertyList(expected[key], forKey: key)
      }
      if hadLink, device.synced == nil { device.link() }
      for other in [device] + devices { try await other.engine.syncNow() }
      for other in devices { #expect(other.content == expected) }
    }
  }
}
