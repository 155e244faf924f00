import SteadSQLite

@testable import SteadRecords

/// The models before and after numbers have become `Float`.
enum Doubles {
  struct Dial: Codable { var value: Double }
  @Model final class Probe {
    var row: Int
    var plain: Double
    var optional: Double?
    var level: Double
    @Attribute(.unique) var key: Double
    var dial: Dial
    init(row: Int, _ value: Double, key: Double) {
      (self.row, plain, optional, self.key) = (row, value, value, key)
      level = 0.7
      dial = Dial(value: value)
    }
  }
}

enum Floats {
  enum Level: Float, Codable, Sendable { case low = 0.1, middle = 0.7 }
  struct Dial: Codable { var value: Float }
  @Model final class Probe {
    var row: Int
    var plain: Float
    var optional: Float?
    var level: Level
    @Attribute(.unique) var key: Float
    var dial: Dial
    init(row: Int, _ value: Float, key: Float) {
      (self.row, plain, optional, self.key) = (row, value, value, key)
      level = .middle
      dial = Dial(value: value)
    }
  }
}

/// A migration from `Double` to `Float` left the numbers as they were. Objects read them rounded, and predicates and
/// unique keys compared the numbers that the rows had: 0.1 was not found, and was there twice.
@Suite("numbers that become Float") struct RoundedNumberTests {
  private let file: RecordsTestSupport.StoreFile

  init() throws { file = try RecordsTestSupport.StoreFile() }

  private func make(_ rows: [(value: Double, key: Double)]) throws {
    let context = ModelContext(try file.open(Doubles.Probe.self))
    for (row, numbers) in rows.enumerated() {
      context.insert(Doubles.Probe(row: row, numbers.value, key: numbers.key))
    }
    try context.save()
  }

  private static let values: [Double] = [
    0.1, 0.1 + 1e-12, 0.5, 1.0 / 3, -0.1, 1e-40, 16_777_217, .infinity, -.infinity, .nan, 3,
  ]

  @Test func `rows are found by what objects read`() throws {
    try make(Self.values.enumerated().map { ($1, Double($0)) })
    let context = ModelContext(try file.open(Floats.Probe.self))
    let order = [SortDescriptor(\Floats.Probe.row)]
    let probes = try context.fetch(FetchDescriptor(sortBy: order))
    for (probe, value) in zip(probes, Self.values) where !value.isNaN {
      #expect(probe.plain == Float(value) && probe.dial.value == Float(value))
    }
    #expect(probes[9].plain.isNaN)
    let middle = Floats.Level.middle
    #expect(
      try context.count(Floats.Probe.self, where: #Predicate { $0.level == middle }) == probes.count
    )
    for value in Self.values.map({ Float($0) }) {
      let predicates: [Predicate<Floats.Probe>] = [
        #Predicate { $0.plain == value }, #Predicate { $0.plain < value },
        #Predicate { $0.optional == value }, #Predicate { $0.optional != value },
        #Predicate { $0.dial.value == value }, #Predicate { $0.dial.value > value },
      ]
      for (index, predicate) in predicates.enumerated() {
        let expected = try probes.filter { try predicate.evaluate($0) }.map(\.row)
        let found = try context.fetch(FetchDescriptor(predicate: predicate, sortBy: order))
        #expect(found.map(\.row) == expected, "predicate \(index) of \(value)")
      }
    }
  }

  @Test func `an object with a key that another row was rounded to updates that row`() throws {
    try make([(0.1, 0.1), (0.2, 0.2)])
    let context = ModelContext(try file.open(Floats.Probe.self))
    context.insert(Floats.Probe(row: 7, 1, key: 0.1))
    try context.save()
    let rows = try context.fetch(FetchDescriptor(sortBy: [SortDescriptor(\Floats.Probe.key)]))
    #expect(rows.map(\.row) == [7, 1])
  }

  @Test func `keys that would be equal are refused before a byte is written`() throws {
    try make([(1, 0.1), (2, 0.1 + 1e-12), (3, 0.5)])
    let error = try #require(throws: SwiftDataError.self) { try file.open(Floats.Probe.self) }
    for word in ["Probe.key", "rounded", "rows 1 and 2"] {
      #expect(error.message.contains(word), "\(error.message)")
    }
    let context = ModelContext(try file.open(Doubles.Probe.self))
    #expect(
      try context.fetch(FetchDescriptor(sortBy: [SortDescriptor(\Doubles.Probe.row)])).map(\.key)
        == [0.1, 0.1 + 1e-12, 0.5])
  }

  @Test func `a store that is only read says that its numbers are not rounded`() throws {
    try make([(0.5, 1), (0.1, 2)])
    let error = try #require(throws: SwiftDataError.self) {
      _ = try ModelContainer(
        for: Floats.Probe.self,
        configurations: ModelConfiguration(url: file.url, allowsSave: false))
    }
    #expect(error.message.contains("Probe.plain is now a `Float`"), "\(error.message)")
    #expect(error.message.contains("digits: 2."), "\(error.message)")
  }
}
