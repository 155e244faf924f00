import SteadPreferences
import Synchronization
import Testing

/// A module's own short name for the names of its keys.
private typealias Key = Preferences.Name

extension Key {
  fileprivate static let wasShown: Key = "wasShown"
  fileprivate static let visits: Key = "visits"
}

/// Code in the manner of articles on property wrappers: static keys, `$value.observe`.
struct SeedStyleTests {
  struct Settings {
    let preferences: Preferences
    @UserDefault(key: .wasShown) var wasShown: Bool
    @UserDefault(key: .wasShown) var wasEverShown: Bool?
    @UserDefault(key: .visits) var visits = 7
    @UserDefault(key: "nickname") var nickname: String
    @UserDefault(key: "theme") var theme = Theme.system
    @UserDefault(key: "lastTheme") var lastTheme: Theme?
    @UserDefault(key: "margins") var margins = Margins()
    @UserDefault(key: "lastMargins") var lastMargins: Margins?
    @UserDefault(key: "direction") var direction = Direction.south
    @UserDefault(key: "lastDirection") var lastDirection: Direction?
    @UserDefault(key: "scores") var scores: [String: [Int]]

    init(_ store: Preferences) {
      preferences = store
      _wasShown = UserDefault(key: .wasShown, store: store)
      _wasEverShown = UserDefault(key: .wasShown, store: store)
      _visits = UserDefault(wrappedValue: 7, key: .visits, store: store)
      _nickname = UserDefault(key: "nickname", store: store)
      _theme = UserDefault(wrappedValue: .system, key: "theme", store: store)
      _lastTheme = UserDefault(key: "lastTheme", store: store)
      _margins = UserDefault(wrappedValue: Margins(), key: "margins", store: store)
      _lastMargins = UserDefault(key: "lastMargins", store: store)
      _direction = UserDefault(wrappedValue: .south, key: "direction", store: store)
      _lastDirection = UserDefault(key: "lastDirection", store: store)
      _scores = UserDefault(key: "scores", store: store)
    }
  }

  let settings = Settings(.inMemory())

  @Test func `has what UserDefaults gives while nothing is stored`() {
    #expect(!settings.wasShown)
    #expect(settings.wasEverShown == nil)
    #expect(settings.visits == 7)
    #expect(settings.nickname.isEmpty)
    #expect(settings.theme == .system)
    #expect(settings.lastTheme == nil && settings.lastMargins == nil)
    #expect(settings.lastDirection == nil && settings.scores.isEmpty)
    #expect(!settings.$visits.isSet)
  }

  @Test func `keeps what was set`() {
    settings.wasShown = true
    settings.visits += 1
    settings.theme = .dark
    settings.lastTheme = .light
    settings.margins.left = 5
    settings.lastMargins = Margins(left: 6, right: 6)
    settings.direction = .north
    settings.lastDirection = .south
    settings.scores["a", default: []].append(3)
    #expect(settings.wasShown && settings.wasEverShown == true)
    #expect(settings.preferences.integer(forKey: "visits") == 8)
    #expect(settings.preferences.string(forKey: "theme") == "dark")
    #expect(settings.lastTheme == .light && settings.margins.left == 5)
    #expect(settings.lastMargins?.right == 6 && settings.direction == .north)
    #expect(settings.lastDirection == .south && settings.scores == ["a": [3]])
    settings.lastTheme = nil
    settings.lastMargins = nil
    settings.lastDirection = nil
    settings.wasEverShown = nil
    #expect(
      settings.preferences.storedKeys == ["visits", "theme", "margins", "direction", "scores"])
    settings.$visits.reset()
    #expect(settings.visits == 7)
  }

  /// What an article prints for the first change: the old value nil, the new one as it is.
  @Test func `observes changes`() {
    let printed = Lines()
    var observation: PreferenceObservation? = settings.$wasShown.observe { old, new in
      printed.add("\(String(describing: old)) \(new)")
    }
    settings.wasShown = false
    settings.wasShown = true
    settings.wasShown = true
    settings.preferences.removeObject(forKey: "wasShown")
    #expect(printed.lines == ["nil false", "Optional(false) true", "Optional(true) false"])
    _ = observation
    observation = nil
    settings.wasShown = true
    #expect(printed.lines.count == 3)
  }

  @Test func `observes optionals`() {
    let printed = Lines()
    let observation = settings.$lastTheme.observe { old, new in
      printed.add("\(old?.rawValue ?? "nil") \(new?.rawValue ?? "nil")")
    }
    settings.lastTheme = .dark
    settings.lastTheme = nil
    observation.cancel()
    settings.lastTheme = .light
    #expect(printed.lines == ["nil dark", "dark nil"])
  }

  @Test(.hangLimit) func `awaits changes`() async {
    var changes = settings.$visits.changes.makeAsyncIterator()
    settings.visits = 1
    let change = await changes.next()
    #expect(change?.old == 7)
    #expect(change?.new == 1)
    #expect(change?.isOwn == true)
  }

  @Test func `keeps aside what does not decode`() {
    settings.preferences.set("many", forKey: "visits")
    #expect(settings.visits == 7)
    settings.visits = 8
    #expect(settings.preferences.string(forKey: "visits.undecodable") == "many")
    #expect(settings.visits == 8)
  }

  @Test func `names are texts`() {
    #expect(Key.wasShown.rawValue == "wasShown")
    #expect("\(Key.visits)" == "visits")
    #expect(Key(rawValue: "visits") == .visits)
    settings.preferences.set(3, forKey: Key.visits.rawValue)
    #expect(settings.visits == 3)
  }
}

final class Lines: Sendable {
  private let kept = Mutex<[String]>([])
  func add(_ line: String) { kept.withLock { $0.append(line) } }
  var lines: [String] { kept.withLock { $0 } }
}
