import SteadFormats
import SteadSQLite

@testable import SteadRecords

/// The struct that random values are read as.
struct RandomFields: Codable, Equatable {
  var count = 7
  var name = "default"
  var flag: Bool?
  var inner = Inner()

  struct Inner: Codable, Equatable {
    var depth = 2.5
    var tags = ["t"]
  }
}

@Model final class RandomRow {
  var number = 0
  var fields = RandomFields()
  var list: [RandomFields.Inner] = []

  init(number: Int) { self.number = number }
}

/// Values of random earlier forms of a struct: with fewer fields, more, or others. What must become of each is said by
/// ``Expectation``, which knows the struct alone.
@Suite("random types that changed under their names") struct RandomTypeChangeTests {
  /// One stored object, and what reading it must give; nil where it can't be read.
  private struct Sample {
    var json: JSONObject = [:]
    var value: RandomFields? = RandomFields()
    var list: [JSONValue] = []
    /// Elements have no default value.
    var elements: [RandomFields.Inner]? = []

    init(_ random: inout SplitMix) {
      field("count", &random, [.number("12"), "text", .null], [12, nil, nil]) { $0.count = $1 }
      field("name", &random, ["n", .number("3"), .null], ["n", nil, nil]) { $0.name = $1 }
      if Bool.random(using: &random) {
        // Nil is a value of an optional field.
        let choice = Int.random(in: 0..<3, using: &random)
        json["flag"] = [.bool(true), .null, .array([])][choice]
        if choice == 2 { value = nil } else { value?.flag = choice == 0 ? true : nil }
      }
      if Bool.random(using: &random) { inner(&random) }
      // A field that is gone.
      if Bool.random(using: &random) { json["former"] = .number("1") }
      for _ in 0..<Int.random(in: 0...2, using: &random) { element(&random) }
    }

    private mutating func element(_ random: inout SplitMix) {
      if Int.random(in: 0..<12, using: &random) == 0 {
        list.append(.object(["depth": .number("1")]))
        elements = nil
      } else {
        list.append(.object(["depth": .number("1.5"), "tags": .array(["v"]), "former": .null]))
        elements?.append(RandomFields.Inner(depth: 1.5, tags: ["v"]))
      }
    }

    /// Sometimes a field, mostly with a value of its type.
    private mutating func field<T>(
      _ name: String, _ random: inout SplitMix, _ values: [JSONValue], _ read: [T?],
      _ set: (inout RandomFields, T) -> Void
    ) {
      guard Int.random(in: 0..<3, using: &random) > 0 else { return }
      let isOther = Int.random(in: 0..<12, using: &random) == 0
      let choice = isOther ? Int.random(in: 1..<values.count, using: &random) : 0
      json[name] = values[choice]
      guard let read = read[choice], var value else {
        value = nil
        return
      }
      set(&value, read)
      self.value = value
    }

    private mutating func inner(_ random: inout SplitMix) {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4:
        json["inner"] = .object(["depth": .number("0.5")])
        value?.inner.depth = 0.5
      case 4..<8: json["inner"] = .object([:])
      case 8:
        json["inner"] = .object(["depth": .number("1"), "tags": .array(["u"])])
        value?.inner = RandomFields.Inner(depth: 1, tags: ["u"])
      default:
        json["inner"] = .object(["tags": .array([.number("1")])])
        value = nil
      }
    }
  }

  @Test func `each value is read with the default's fields, or the store stays as it was`()
    async throws
  {
    var (opened, refused) = (0, 0)
    for seed in 1...UInt64(Effort.times(12)) {
      var random = SplitMix(seed: seed)
      let samples = (0..<Int.random(in: 1...6, using: &random)).map { _ in Sample(&random) }
      try check(samples, seed) ? (opened += 1) : (refused += 1)
      await Task.yield()
    }
    #expect(opened > 0 && refused > 0 || !Effort.isRepresentative)
  }

  /// Whether the store opened.
  private func check(_ samples: [Sample], _ seed: UInt64) throws -> Bool {
    let file = try RecordsTestSupport.StoreFile()
    let context = ModelContext(try file.open(RandomRow.self))
    for number in samples.indices { context.insert(RandomRow(number: number)) }
    try context.save()
    var options = SQLiteOptions(.file(file.url.path))
    options.isWritable = true
    // Fields of structs are columns that json_extract computes.
    options.trustsSchema = true
    let connection = try SQLiteConnection(options)
    for (number, sample) in samples.enumerated() {
      let text = String(decoding: JSONValue.object(sample.json).data, as: UTF8.self)
      let list = String(decoding: JSONValue.array(sample.list).data, as: UTF8.self)
      try connection.run(
        "UPDATE RandomRow SET fields = ?1, list = ?2 WHERE number = ?3",
        [.text(text), .text(list), .integer(Int64(number))])
    }
    // The schema of an app whose struct had other fields under the same name.
    try connection.execute(
      """
      UPDATE stead_metadata SET value = replace(value, '"depth":"Double"', '"height":"Double"') WHERE key = 'schema';
      UPDATE stead_metadata SET value = 'old' WHERE key = 'tables';
      """)
    let rows = try connection.rows("SELECT * FROM RandomRow ORDER BY _id")
    let isRead = samples.allSatisfy { $0.value != nil }
    let isListRead = samples.allSatisfy { $0.elements != nil }
    guard isRead, isListRead else {
      let error = try #require(throws: SwiftDataError.self) { try file.open(RandomRow.self) }
      #expect(
        error.message.contains("RandomRow.fields has the type RandomFields") == !isRead,
        "\(seed): \(error.message)")
      #expect(error.message.contains("RandomRow.list") == !isListRead, "\(seed)")
      #expect(try connection.rows("SELECT * FROM RandomRow ORDER BY _id") == rows, "\(seed)")
      return false
    }
    for _ in 0..<2 {
      let descriptor = FetchDescriptor<RandomRow>(sortBy: [SortDescriptor(\.number)])
      let read = try ModelContext(file.open(RandomRow.self)).fetch(descriptor)
      #expect(read.map(\.fields) == samples.map(\.value), "\(seed)")
      #expect(read.map(\.list) == samples.map(\.elements), "\(seed)")
    }
    return true
  }
}
