import Foundation
import SteadSync
import SteadTestSupport
import Synchronization
import Testing

/// Values that devices share by key, by the names of Apple's API.
@Suite(.hangLimit) struct KeyValueTests {
  private let server = LocalSyncServer()

  private func pair() throws -> (one: NSUbiquitousKeyValueStore, two: NSUbiquitousKeyValueStore) {
    (.inMemory(), .inMemory())
  }

  private func engine(_ store: NSUbiquitousKeyValueStore) throws -> SyncEngine {
    try SyncEngine(keyValueStores: ["settings": store], transport: server)
  }

  @Test func `values of every kind arrive`() async throws {
    let (one, two) = try pair()
    one.set("text", forKey: "string")
    one.set(Int64.max, forKey: "number")
    one.set(0.1, forKey: "double")
    one.set(true, forKey: "flag")
    one.set(Double.infinity, forKey: "endless")
    one.set(UInt64.max as Any, forKey: "unsigned")
    one.set(Data([0, 255]), forKey: "data")
    one.set(["a", 1, [Date(timeIntervalSinceReferenceDate: 3.5)]] as [Any], forKey: "array")
    one.set(["$data": "no data", "$$": 1] as [String: Any], forKey: "dictionary")
    try await engine(one).syncNow()
    try await engine(two).syncNow()
    #expect(two.string(forKey: "string") == "text")
    #expect(two.longLong(forKey: "number") == .max)
    #expect(two.double(forKey: "double") == 0.1)
    #expect(two.bool(forKey: "flag"))
    #expect(two.object(forKey: "number") as? Int == .max, "as a number of Foundation's is cast")
    #expect(two.double(forKey: "endless") == .infinity)
    #expect(two.object(forKey: "unsigned") as? UInt64 == .max)
    #expect(two.data(forKey: "data") == Data([0, 255]))
    let array = try #require(two.array(forKey: "array"))
    #expect((array[2] as? [Date])?.first == Date(timeIntervalSinceReferenceDate: 3.5))
    let dictionary = try #require(two.dictionary(forKey: "dictionary"))
    #expect(dictionary["$data"] as? String == "no data")
    #expect(dictionary["$$"] as? Int64 == 1)
    #expect(two.dictionaryRepresentation.count == 9)
  }

  /// Collects what a store's notifications say.
  private final class Log: Sendable {
    private let entries = Mutex<[(reason: Int, keys: [String])]>([])
    // Set at the end of the initializer, and read by `deinit` alone.
    nonisolated(unsafe) private var observer: (any NSObjectProtocol)?

    init(_ store: NSUbiquitousKeyValueStore) {
      observer = NotificationCenter.default.addObserver(
        forName: NSUbiquitousKeyValueStore.didChangeExternallyNotification, object: store,
        queue: nil
      ) { [weak self] note in
        let reason = note.userInfo?[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int
        let keys = note.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String]
        self?.entries.withLock { $0.append((reason ?? -1, keys ?? [])) }
      }
    }

    deinit { observer.map { NotificationCenter.default.removeObserver($0) } }

    func take() -> [String] {
      entries.withLock { entries in
        defer { entries = [] }
        return entries.map { "\($0.reason) \($0.keys.joined(separator: ","))" }
      }
    }
  }

  @Test func `notifications say what others changed`() async throws {
    let (one, two) = try pair()
    let (first, second) = (try engine(one), try engine(two))
    let log = Log(two)
    one.set(1 as Int64, forKey: "a")
    one.set(2 as Int64, forKey: "b")
    try await first.syncNow()
    try await second.syncNow()
    #expect(log.take() == ["\(NSUbiquitousKeyValueStoreInitialSyncChange) a,b"])
    two.set(3 as Int64, forKey: "a")
    try await second.syncNow()
    #expect(log.take().isEmpty, "own changes are no news")
    try await first.syncNow()
    #expect(one.longLong(forKey: "a") == 3)
    one.removeObject(forKey: "b")
    try await first.syncNow()
    try await second.syncNow()
    #expect(log.take() == ["\(NSUbiquitousKeyValueStoreServerChange) b"])
    #expect(two.object(forKey: "b") == nil)
  }

  @Test func `what is too large changes nothing and says so`() throws {
    let store = NSUbiquitousKeyValueStore.inMemory()
    let log = Log(store)
    store.set("old", forKey: "a")
    store.set(String(repeating: "x", count: 1_000_001), forKey: "a")
    store.set("value", forKey: String(repeating: "k", count: 65))
    #expect(
      log.take() == [
        "\(NSUbiquitousKeyValueStoreQuotaViolationChange) a",
        "\(NSUbiquitousKeyValueStoreQuotaViolationChange) \(String(repeating: "k", count: 65))",
      ])
    #expect(store.string(forKey: "a") == "old")
    for number in 1..<1024 { store.set(Int64(number), forKey: "\(number)") }
    #expect(log.take().isEmpty)
    store.set(1 as Int64, forKey: "one more")
    #expect(store.dictionaryRepresentation.count == 1024)
    #expect(log.take().count == 1)
  }

  @Test func `two objects on one file see each other`() throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("values.sqlite")
    let (one, two) = (
      try NSUbiquitousKeyValueStore(file: file), try NSUbiquitousKeyValueStore(file: file)
    )
    one.set("1", forKey: "a")
    #expect(two.string(forKey: "a") == "1")
    two.set("2", forKey: "a")
    #expect(one.string(forKey: "a") == "2")
    #expect(try NSUbiquitousKeyValueStore(file: file).string(forKey: "a") == "2")
    for suffix in ["", "-wal"] {
      let found = try FileManager.default.attributesOfItem(atPath: file.path + suffix)
      #expect(found[.posixPermissions] as? Int == 0o600)
    }
  }
}
