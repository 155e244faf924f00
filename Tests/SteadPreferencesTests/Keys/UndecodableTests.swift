import Foundation
import SteadPreferences
import Testing

/// A stored value that does not decode is reported, and never lost by a write.
struct UndecodableTests {
  let preferences = Preferences.inMemory()

  @Test func `reads as the default and is reported`() {
    let log = ErrorLog(preferences)
    preferences.set("secret", forKey: "count")
    #expect(preferences[\.count] == 3)
    #expect(log.codes == [.doesNotDecode])
    #expect(log.keys == ["count"])
    #expect(log.texts.allSatisfy { !$0.contains("secret") })
    #expect(preferences.string(forKey: "count") == "secret")
    #expect { try preferences.value(for: \.count) } throws: {
      ($0 as? PreferencesError)?.code == .doesNotDecode
    }
  }

  @Test func `is kept aside before it is replaced`() {
    let log = ErrorLog(preferences)
    preferences.set(Data([1, 2, 3]), forKey: "margins")
    preferences[\.margins] = Margins(left: 9, right: 9)
    #expect(preferences[\.margins] == Margins(left: 9, right: 9))
    #expect(preferences.data(forKey: "margins.undecodable") == Data([1, 2, 3]))
    #expect(preferences.undecodableKeys(for: "margins") == ["margins.undecodable"])
    #expect(log.codes == [.doesNotDecode])
  }

  @Test func `is kept aside before nil takes it out`() {
    preferences.set(["a"], forKey: "note")
    preferences[\.note] = nil
    #expect(preferences.propertyList(forKey: "note") == nil)
    #expect(preferences.stringArray(forKey: "note.undecodable") == ["a"])
  }

  @Test func `several are kept, each once`() {
    for text in ["a", "b", "a"] {
      preferences.set(text, forKey: "count")
      preferences[\.count] = 1
    }
    #expect(
      preferences.undecodableKeys(for: "count") == ["count.undecodable", "count.undecodable.2"])
    #expect(preferences.string(forKey: "count.undecodable") == "a")
    #expect(preferences.string(forKey: "count.undecodable.2") == "b")
  }

  @Test func `beyond the limit, the write is refused`() {
    for number in 0..<Preferences.keptAsideLimit {
      preferences.set("text \(number)", forKey: "count")
      preferences[\.count] = number
    }
    #expect(preferences.undecodableKeys(for: "count").count == Preferences.keptAsideLimit)
    preferences.set("one more", forKey: "count")
    #expect { try preferences.set(1, for: \.count) } throws: {
      ($0 as? PreferencesError)?.code == .tooManyKeptAside
    }
    #expect(preferences.string(forKey: "count") == "one more")
    preferences.removeObject(forKey: "count.undecodable.7")
    preferences[\.count] = 1
    #expect(preferences[\.count] == 1)
    #expect(preferences.string(forKey: "count.undecodable.7") == "one more")
  }

  /// A readable value needs no keeping, not even one of another kind.
  @Test func `what decodes is simply replaced`() {
    preferences.set("42", forKey: "count")
    preferences[\.count] = 1
    preferences[\.count] = 2
    #expect(preferences.storedKeys == ["count"])
  }

  /// What does not decode in a domain that is not written stays there anyhow.
  @Test func `other domains are left alone`() {
    let preferences = Preferences.inMemory(
      environment: .inMemory(arguments: ["app", "-count", "many"]))
    let log = ErrorLog(preferences)
    #expect(preferences[\.count] == 3)
    preferences[\.count] = 4
    #expect(log.codes == [.doesNotDecode])
    #expect(preferences.undecodableKeys(for: "count").isEmpty)
  }

  /// The value and its copy are one write: nobody sees the one without the other.
  @Test func `is kept and replaced in one write`() {
    preferences.set("text", forKey: "count")
    let posts = Counter()
    let observer = NotificationCenter.default.addObserver(
      forName: Preferences.didChangeNotification, object: preferences, queue: nil
    ) { _ in posts.count() }
    preferences[\.count] = 1
    NotificationCenter.default.removeObserver(observer)
    #expect(posts.value == 1)
    #expect(preferences.string(forKey: "count.undecodable") == "text")
  }

  @Test func `reset takes it out`() {
    preferences.set("text", forKey: "count")
    preferences.reset(\.count)
    #expect(preferences.storedKeys.isEmpty)
  }
}
