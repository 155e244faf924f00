import Foundation
import RecordsTestSupport
import SteadTestSupport
import SwiftData
import Testing

/// Files of other versions of an app: values that its types no longer read, and properties and fields that they lack.
///
/// One value that did not fit closed the whole store, as one that is damaged; and what a default value such as `UUID()`
/// gave was one for all objects, and another one in the next process.
@Suite("What other versions of an app left in a JSON file") struct JSONStoreChangeTests {
  private static let count = 6
  private let directory: TemporaryDirectory

  private var url: URL { directory.file("gauges.json") }

  init() throws { directory = try TemporaryDirectory() }

  private func context() throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Gauge.self, Note.self, configurations: JSONStoreConfiguration(url: url)))
  }

  private func write() throws {
    let context = try context()
    for number in 0..<Self.count {
      let gauge = Gauge("\(number)")
      gauge.settings.volume = number
      gauge.marks = [GaugeInner()]
      context.insert(gauge)
    }
    context.insert(Note("n"))
    try context.save()
  }

  /// Changes what the file has of the gauges.
  private func edit(_ change: (inout [String: Any]) -> Void) throws {
    var file = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any])
    var snapshots = try #require(file["snapshots"] as? [[String: Any]])
    for index in snapshots.indices where snapshots[index]["settings"] != nil {
      change(&snapshots[index])
    }
    file["snapshots"] = snapshots
    try JSONSerialization.data(withJSONObject: file).write(to: url)
  }

  /// What the file has of a property of one gauge, as JSON.
  private func stored(_ property: String, of name: String) throws -> String {
    let file = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any])
    let snapshots = try #require(file["snapshots"] as? [[String: Any]])
    let found = try #require(snapshots.first { $0["name"] as? String == name })
    let data = try JSONSerialization.data(
      withJSONObject: [found[property] ?? NSNull()], options: .sortedKeys)
    return String(decoding: data, as: UTF8.self)
  }

  // MARK: Values that do not fit

  private static let misfits: [(String, String)] = [
    ("dial", "[\"oval\"]"), ("dial", "[5]"), ("dial", "[{\"a\":null}]"),
    ("settings", "[{\"inner\":{\"depth\":\"deep\"},\"volume\":1}]"),
    ("settings", "[{\"volume\":\"loud\"}]"), ("settings", "[7]"), ("settings", "[\"secret\"]"),
    ("spare", "[{\"key\":\"k\"}]"), ("spare", "[true]"), ("marks", "[[{\"depth\":1}]]"),
    ("marks", "[{}]"), ("marks", "[[1,2.25,\"x\"]]"),
  ]

  /// Their columns are read whatever they hold.
  private static let plainMisfits: [(String, String)] = [
    ("count", "[\"many\"]"), ("count", "[1.5]"), ("count", "[[1,2.25,\"x\"]]"),
    ("level", "[\"high\"]"), ("code", "[\"none\"]"), ("code", "[12]"), ("key", "[8]"),
    ("key", "[[]]"),
  ]

  /// Gives gauge 2 a value that its type does not read.
  private func misfit(_ property: String, _ json: String) throws {
    try write()
    let array = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [Any]
    try edit { if $0["name"] as? String == "2" { $0[property] = array?[0] } }
  }

  /// The error of a fetch that returns gauge 2.
  private func expectUnreadable(_ property: String, _ context: ModelContext) throws {
    let error = try #require(throws: SwiftDataError.self) {
      try context.fetch(FetchDescriptor<Gauge>())
    }
    #expect(error.code == .unreadableValue)
    #expect(error.message.contains("Gauge.\(property)"), "\(error.message)")
    // A number that stands for its key in this process would tell nothing.
    #expect(!error.message.contains("row 46"), "\(error.message)")
    for word in ["secret", "oval", "many"] { #expect(!"\(error)".contains(word)) }
  }

  private func repair(_ property: String) throws {
    let code = UUID().uuidString
    try edit { snapshot in
      guard snapshot["name"] as? String == "2" else { return }
      switch property {
      case "dial": snapshot[property] = "square"
      case "settings": snapshot[property] = [String: Any]()
      case "spare", "marks": snapshot[property] = nil
      case "count", "level": snapshot[property] = 4
      default: snapshot[property] = code
      }
    }
  }

  @Test(arguments: misfits)
  func `a value that its type does not read makes its object unreadable, and no other`(
    property: String, json: String
  ) throws {
    try misfit(property, json)
    let context = try context()
    try expectUnreadable(property, context)
    // The others are read, and saved, and what the file has of this one stays.
    let others = FetchDescriptor<Gauge>(
      predicate: #Predicate { $0.name != "2" }, sortBy: [SortDescriptor(\.name)])
    let found = try context.fetch(others)
    #expect(found.map(\.name) == ["0", "1", "3", "4", "5"])
    found[0].count = 9
    context.insert(Gauge("new"))
    try context.save()
    #expect(try stored(property, of: "2") == json)
    #expect(try stored("count", of: "0") == "[9]")
    // Repaired, it is an object again.
    try repair(property)
    #expect(try context.fetch(FetchDescriptor<Gauge>()).count == 7)
    #expect(try self.context().fetch(FetchDescriptor<Gauge>()).count == 7)
  }

  @Test(arguments: plainMisfits)
  func `a value of another plain type is named, and other models are read and saved`(
    property: String, json: String
  ) throws {
    try misfit(property, json)
    let context = try context()
    try expectUnreadable(property, context)
    let note = try context.only(Note.self)
    note.text = "m"
    try context.save()
    #expect(try stored(property, of: "2") == json)
    try repair(property)
    #expect(try context.fetch(FetchDescriptor<Gauge>()).count == Self.count)
    #expect(try self.context().only(Note.self).text == "m")
  }

  // MARK: What is missing

  /// All objects without what is removed, by name.
  private func gauges(_ context: ModelContext) throws -> [String: Gauge] {
    let found = try context.fetch(FetchDescriptor<Gauge>())
    return Dictionary(uniqueKeysWithValues: found.map { ($0.name, $0) })
  }

  @Test func `fields that a struct has gained come from the default value, for each object`() throws
  {
    try write()
    try edit {
      var settings = $0["settings"] as? [String: Any] ?? [:]
      settings["theme"] = nil
      settings["id"] = nil
      settings["inner"] = ["depth": 5]
      $0["settings"] = settings
    }
    try expectStable { gauges in
      #expect(gauges.values.allSatisfy { $0.settings.theme == "plain" })
      #expect(gauges.values.allSatisfy { $0.settings.inner.depth == 5 })
      #expect(gauges.allSatisfy { "\($1.settings.volume)" == $0 })
      #expect(Set(gauges.values.map(\.settings.id)).count == Self.count)
      #expect(Set(gauges.values.map(\.settings.inner.key)).count == Self.count)
      return gauges.mapValues { "\($0.settings)" }
    }
  }

  @Test func `a property that the file lacks gets a value of its own in each object`() throws {
    try write()
    try edit { for name in ["code", "key", "count"] { $0[name] = nil } }
    try expectStable { gauges in
      #expect(Set(gauges.values.map(\.code)).count == Self.count)
      #expect(Set(gauges.values.map(\.key)).count == Self.count)
      #expect(gauges.values.allSatisfy { $0.count == 0 })
      return gauges.mapValues { "\($0.code) \($0.key)" }
    }
  }

  /// What objects have got stays: in later fetches, in another context and container, and after a save.
  private func expectStable(_ check: ([String: Gauge]) throws -> [String: String]) throws {
    let context = try context()
    let first = try check(gauges(context))
    #expect(first.count == Self.count)
    for turn in 0..<3 {
      #expect(try check(gauges(context)) == first)
      #expect(try check(gauges(self.context())) == first)
      let changed = try gauges(context)["\(turn)"]
      changed?.level += 1
      try context.save()
    }
    #expect(try check(gauges(self.context())) == first)
  }

  @Test func `a custom store that lacks a property gives each object a value of its own`() throws {
    let content = DictionaryStore.Content()
    func open() throws -> ModelContext {
      ModelContext(
        try ModelContainer(
          for: Gauge.self, configurations: DictionaryStore.Configuration(content)))
    }
    let first = try open()
    for number in 0..<Self.count { first.insert(Gauge("\(number)")) }
    try first.save()
    let encoded = try content.snapshots.map { try JSONEncoder().encode($0) }
    let lacking = try encoded.map { data in
      var object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
      object["code"] = nil
      object["key"] = nil
      return try JSONDecoder().decode(
        DefaultSnapshot.self, from: JSONSerialization.data(withJSONObject: object))
    }
    content.state.withLock { $0.snapshots = lacking }
    let context = try open()
    let values = try gauges(context).mapValues { "\($0.code) \($0.key)" }
    #expect(Set(values.values).count == Self.count)
    // In the container it stays, however often the store gives the objects.
    for _ in 0..<3 {
      #expect(try gauges(context).mapValues { "\($0.code) \($0.key)" } == values)
      let other = ModelContext(context.container)
      #expect(try gauges(other).mapValues { "\($0.code) \($0.key)" } == values)
    }
    // What was saved stays for good.
    for gauge in try gauges(context).values { gauge.count += 1 }
    try context.save()
    #expect(try gauges(open()).mapValues { "\($0.code) \($0.key)" } == values)
  }
}
