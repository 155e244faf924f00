import Observation
import SteadPreferences
import Testing

/// Changes of typed keys, told and awaited.
struct TypedChangesTests {
  struct Reader {
    @Preference(\.theme) var theme
    init(_ store: Preferences) { _theme = Preference(\.theme, store: store) }
  }

  let store = Preferences.inMemory()

  @Test(.hangLimit) func `projection gives changes`() async {
    let reader = Reader(store)
    var changes = reader.$theme.makeAsyncIterator()
    reader.theme = .dark
    var change = await changes.next()
    #expect(change?.old == .system && change?.new == .dark)
    store.removeObject(forKey: "theme")
    change = await changes.next()
    #expect(change?.old == .dark && change?.new == .system)
  }

  @Test(.hangLimit) func `ends with its task`() async {
    let reader = Reader(store)
    let changes = reader.$theme.changes
    let seen = Lines()
    let task = Task {
      for await change in changes { seen.add(change.new.rawValue) }
    }
    task.cancel()
    await task.value
    reader.theme = .dark
    #expect(seen.lines.isEmpty)
  }

  @Test func `observes by key path`() {
    let seen = Lines()
    let all = store.observe(\.count) { change in seen.add("\(change.old) \(change.new)") }
    let others = store.observe(\.count, includingOwn: false) { _ in seen.add("own") }
    let projected = Reader(store).$theme.observe { change in seen.add(change.new.rawValue) }
    store[\.count] = 4
    Reader(store).theme = .light
    #expect(seen.lines == ["3 4", "light"])
    all.cancel()
    others.cancel()
    projected.cancel()
    store[\.count] = 5
    #expect(seen.lines.count == 2)
  }

  @Test func `tells what does not decode as the default`() {
    let log = ErrorLog(store)
    let seen = Lines()
    let token = store.observe(\.count) { change in seen.add("\(change.old) \(change.new)") }
    store[\.count] = 4
    store.set("many", forKey: "count")
    #expect(seen.lines == ["3 4", "4 3"])
    #expect(log.codes == [.doesNotDecode])
    token.cancel()
  }

  @Test func `moves old names first`() {
    store.set(5, forKey: "older")
    let key = Preferences.Key<Int>("new", default: 0).renamed(from: "older")
    let seen = Lines()
    let token = store.observe(key) { change in seen.add("\(change.old) \(change.new)") }
    store[key] = 6
    #expect(seen.lines == ["5 6"])
    token.cancel()
  }

  @Test func `reads are tracked`() {
    let reader = Reader(store)
    let seen = Lines()
    withObservationTracking {
      _ = reader.theme
    } onChange: {
      seen.add("changed")
    }
    store[\.count] = 1
    #expect(seen.lines.isEmpty)
    reader.theme = .dark
    #expect(seen.lines == ["changed"])
  }
}
