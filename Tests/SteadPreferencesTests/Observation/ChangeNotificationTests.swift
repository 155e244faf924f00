import Foundation
import Testing

@testable import SteadPreferences

struct ChangeNotificationTests {
  private func listen(
    to preferences: Preferences?, _ handler: @escaping @Sendable (Notification) -> Void
  ) -> any NSObjectProtocol {
    NotificationCenter.default.addObserver(
      forName: Preferences.didChangeNotification, object: preferences, queue: nil, using: handler)
  }

  @Test func `is posted for each write of these preferences`() throws {
    let preferences = Preferences.inMemory()
    let log = Log<Bool>()
    let listener = listen(to: preferences) { [preferences] notification in
      #expect(notification.userInfo == nil)
      // What was written can be read.
      log.add(preferences.bool(forKey: "flag"))
    }
    defer { NotificationCenter.default.removeObserver(listener) }
    preferences.set(true, forKey: "flag")
    preferences.set(true, forKey: "flag")
    preferences.removeObject(forKey: "flag")
    Preferences.inMemory().set(true, forKey: "flag")
    #expect(log.all == [true, true, false])
  }

  @Test func `is posted on the writing thread`() async {
    let preferences = Preferences.inMemory()
    let log = Log<Bool>()
    let writer = Log<ObjectIdentifier>()
    let listener = listen(to: preferences) { _ in
      log.add(writer.all.last == ObjectIdentifier(Thread.current))
    }
    defer { NotificationCenter.default.removeObserver(listener) }
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        writer.add(ObjectIdentifier(Thread.current))
        preferences.set(1, forKey: "key")
        continuation.resume()
      }
    }
    #expect(log.all == [true])
  }

  @Test func `is not posted for changes of others`() throws {
    let preferences = Preferences.inMemory()
    let (posted, observed) = (Log<Void>(), Log<Change>())
    let listener = listen(to: preferences) { _ in posted.add(()) }
    defer { NotificationCenter.default.removeObserver(listener) }
    let observation = preferences.observe("key") { observed.add($0) }
    defer { observation.cancel() }
    preferences.search.list.target.setFromOutside(.integer(1), forKey: "key")
    #expect(posted.all.isEmpty)
    #expect(observed.texts == ["key: nil -> 1 *"])
  }

  /// The name is the one that Foundation has.
  @Test func `has the name that programs know`() {
    #expect(Preferences.didChangeNotification == UserDefaults.didChangeNotification)
  }
}
