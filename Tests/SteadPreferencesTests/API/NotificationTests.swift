import Foundation
import SteadFiles
import Testing

@testable import SteadPreferences

struct NotificationTests {
  /// Counts what is posted for one object, on the thread that posts.
  private final class Counter: Sendable {
    private let count = ForkSafeLock(0)
    private let thread = ForkSafeLock<ObjectIdentifier?>(nil)
    // Written once, before anybody else has the object.
    nonisolated(unsafe) private var observer: (any NSObjectProtocol)?

    init(_ preferences: Preferences) {
      observer = NotificationCenter.default.addObserver(
        forName: Preferences.didChangeNotification, object: preferences, queue: nil
      ) { [count, thread] _ in
        count.withLock { $0 += 1 }
        thread.withLock { $0 = ObjectIdentifier(Thread.current) }
      }
    }

    deinit { if let observer { NotificationCenter.default.removeObserver(observer) } }

    func take() -> Int {
      count.withLock { count in
        defer { count = 0 }
        return count
      }
    }

    var lastThread: ObjectIdentifier? { thread.withLock { $0 } }
  }

  @Test func `each change is posted on the thread that made it`() throws {
    let preferences = Preferences.inMemory()
    let other = Preferences.inMemory()
    let counter = Counter(preferences)
    let changes: [(Preferences) throws -> Void] = [
      { $0.set(1, forKey: "a") }, { $0.set(1.5, forKey: "a") }, { $0.set(Float(1), forKey: "a") },
      { $0.set(true, forKey: "a") }, { $0.set("x", forKey: "a") },
      { $0.set(URL(filePath: "/x"), forKey: "a") }, { $0.setValue([1], forKey: "a") },
      { $0.set(nil, forKey: "a") }, { $0.removeObject(forKey: "a") }, { try $0.removeAll() },
      { try $0.setPropertyList(.integer(1), forKey: "a") },
      { $0.setPersistentDomain(["k": 1], forName: "memory") },
      { $0.setPersistentDomain(["k": 1], forName: "else") },
      { $0.removePersistentDomain(forName: "else") },
      { try $0.importDomain($0.exportDomain()) },
      // The volatile domains posted nothing, as on no other system.
      { $0.setVolatileDomain(["k": 1], forName: "volatile") },
      { $0.setVolatileDomain(["k": 2], forName: "volatile") },
      { $0.removeVolatileDomain(forName: "volatile") },
      { $0.setVolatileDomain(["k": 1], forName: Preferences.argumentDomain) },
      { $0.removeVolatileDomain(forName: Preferences.argumentDomain) },
      { $0.setVolatileDomain(["k": 1], forName: Preferences.registrationDomain) },
      { $0.removeVolatileDomain(forName: Preferences.registrationDomain) },
      { try $0.strict.set(1, forKey: "a") }, { try $0.strict.removeObject(forKey: "a") },
    ]
    for (index, change) in changes.enumerated() {
      try change(preferences)
      #expect(counter.take() == 1, "change \(index)")
      #expect(counter.lastThread == ObjectIdentifier(Thread.current))
      try change(other)
      #expect(counter.take() == 0)
    }
  }

  @Test func `reading and refused writes are not posted`() {
    let preferences = Preferences.inMemory(options: .init(isReadOnly: true))
    preferences.onError = { _ in }
    let counter = Counter(preferences)
    preferences.set(1, forKey: "a")
    preferences.setPersistentDomain([:], forName: "memory")
    preferences.setVolatileDomain(["k": Counter.self], forName: "volatile")
    _ = preferences.object(forKey: "a")
    preferences.synchronize()
    #expect(counter.take() == 0)
  }

  /// A change whose condition did not hold was posted like one that was made.
  @Test func `a change that was not made is not posted`() throws {
    let preferences = Preferences.inMemory()
    preferences.set(1, forKey: "a")
    let counter = Counter(preferences)
    let edit = DomainEdit(key: "a", value: .integer(2))
    #expect(
      try !preferences.apply([edit], ifStill: [DomainEdit(key: "a", value: .integer(3))]))
    #expect(try preferences.apply([], ifStill: [DomainEdit(key: "a", value: .integer(1))]))
    #expect(try preferences.importDomain(preferences.exportDomain(), keepingExisting: true) == 0)
    #expect(counter.take() == 0)
    #expect(try preferences.apply([edit], ifStill: [DomainEdit(key: "a", value: .integer(1))]))
    #expect(counter.take() == 1)
  }

  @Test func `the names are Foundation's`() {
    #expect(
      Preferences.didChangeNotification == Foundation.UserDefaults.didChangeNotification)
    #expect(
      Preferences.sizeLimitExceededNotification.rawValue
        == "NSUserDefaultsSizeLimitExceededNotification")
  }
}
