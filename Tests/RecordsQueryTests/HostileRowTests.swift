import Foundation
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

/// SQL and memory disagreed about strings with NUL in arrays, identifiers of other entities, and references to rows that
/// are gone.
@Suite("Predicates over hostile rows") struct HostileRowTests {
  // MARK: Strings

  /// `json_each` and `json_extract` end a string at NUL: "a\0b" was found as "a".
  @Test func `an element with NUL is the whole string`() throws {
    let store = try SampleStore([
      Sample(text: "nul", tags: ["a\0b"]), Sample(text: "plain", tags: ["a"]),
      Sample(text: "escape", tags: [#"a\u0000b"#, "a\\\0"]),
      Sample(text: "both", tags: ["x", "a\0b"]),
    ])
    func texts(_ predicate: Predicate<Sample>) throws -> Set<String> {
      Set(try store.context.fetch(FetchDescriptor(predicate: predicate)).map(\.text))
    }
    #expect(try texts(#Predicate { $0.tags.contains("a") }) == ["plain"])
    #expect(try texts(#Predicate { $0.tags.contains("a\0b") }) == ["nul", "both"])
    #expect(try texts(#Predicate { $0.tags.contains(#"a\u0000b"#) }) == ["escape"])
    #expect(try texts(#Predicate { $0.tags.contains("a\\\0") }) == ["escape"])
    #expect(
      try texts(#Predicate { $0.tags.contains { $0.localizedStandardContains("B") } })
        == ["nul", "escape", "both"])
    #expect(
      try texts(#Predicate { $0.tags.contains { $0.localizedCaseInsensitiveContains("B") } })
        == ["nul", "escape", "both"])
    #expect(try texts(#Predicate { $0.tags.first == "a\0b" }) == ["nul"])
    #expect(try texts(#Predicate { $0.tags.filter { $0.hasSuffix("b") }.count == 1 }).count == 3)
    let captured = ["nul", "a\0b"]
    #expect(try texts(#Predicate { captured.contains($0.text) }) == ["nul"])
  }

  /// The error said that SQLite refused to work on the store, and to try again.
  @Test func `an array that is not JSON is an unreadable value`() throws {
    let store = try SampleStore([Sample(text: "one", tags: ["q"])])
    try store.execute(#"UPDATE Sample SET tags = '["q"'"#)
    let error = #expect(throws: SwiftDataError.self) {
      try ModelContext(store.container).fetch(
        FetchDescriptor<Sample>(predicate: #Predicate { $0.tags.contains("q") }))
    }
    #expect(error?.code == .unreadableValue, "\(error as Any)")
  }

  /// Any text in a column of numbers was taken for NaN.
  @Test func `a text that another program has put into a column of numbers is unreadable`() throws {
    let store = try SampleStore([Sample(real: .nan), Sample(real: 1)])
    #expect(try ModelContext(store.container).distinct(\Sample.real).count == 2)
    try store.execute("UPDATE Sample SET real = 'abc' WHERE real = 1")
    let context = ModelContext(store.container)
    #expect(throws: SwiftDataError.unreadableValue) { try context.distinct(\Sample.real) }
    #expect(throws: SwiftDataError.unreadableValue) {
      try context.counts(of: Sample.self, by: \.real)
    }
  }

  @Test func `numbers in a struct that are not finite compare as in Swift`() throws {
    let heights: [Double] = [1, .infinity, -.infinity, .nan]
    let store = try SampleStore(
      heights.enumerated().map { index, height in
        Sample(number: index, place: Place(city: "", zip: nil, height: height))
      })
    let context = ModelContext(store.container)
    func numbers(_ predicate: Predicate<Sample>) throws -> Set<Int> {
      Set(try context.fetch(FetchDescriptor(predicate: predicate)).map(\.number))
    }
    let infinity = Double.infinity
    #expect(try numbers(#Predicate { $0.place.height > 0 }) == [0, 1])
    #expect(try numbers(#Predicate { $0.place.height < 0 }) == [2])
    #expect(try numbers(#Predicate { !($0.place.height < 0) }) == [0, 1, 3])
    #expect(try numbers(#Predicate { $0.place.height == infinity }) == [1])
    #expect(try numbers(#Predicate { $0.place.height != 1 }) == [1, 2, 3])
    #expect(try numbers(#Predicate { $0.place.height == $0.place.height }) == [0, 1, 2])
    #expect(try context.maximum(of: \Sample.place.height) == Double.infinity)
  }

  /// Only a predicate over the array found that it is no JSON.
  @Test(arguments: ["[01]", "[-01]", "[00]", "[-]"])
  func `an array of integers that is not JSON is an unreadable value`(_ json: String) throws {
    let store = try SampleStore([Sample(text: "one", numbers: [1])])
    try store.execute("UPDATE Sample SET numbers = '\(json)'")
    #expect(throws: SwiftDataError.unreadableValue) {
      try ModelContext(store.container).fetch(FetchDescriptor<Sample>())
    }
    try store.execute("UPDATE Sample SET numbers = '[0,-0,10,-10]'")
    let sample = try ModelContext(store.container).fetch(FetchDescriptor<Sample>()).first
    #expect(sample?.numbers == [0, 0, 10, -10])
  }

  @Test func `a field with NUL is the whole string`() throws {
    let store = try SampleStore([
      Sample(text: "nul", place: Place(city: "a\0b", height: 0)),
      Sample(text: "plain", place: Place(city: "a", height: 0)),
    ])
    let plain = try store.context.fetch(
      FetchDescriptor<Sample>(predicate: #Predicate { $0.place.city == "a" }))
    #expect(plain.map(\.text) == ["plain"])
    let ends = try store.context.fetch(
      FetchDescriptor<Sample>(predicate: #Predicate { $0.place.city.hasSuffix("b") }))
    #expect(ends.map(\.text) == ["nul"])
  }

  @Test func `a string of a megabyte is compared to its end`() throws {
    let long = String(repeating: "ab\0", count: 350_000)
    let (one, other) = (long + "x", long + "y")
    let store = try SampleStore([
      Sample(number: 1, text: one, tags: [one], place: Place(city: one, height: 0)),
      Sample(number: 2, text: other, tags: [other], place: Place(city: other, height: 0)),
    ])
    func numbers(_ predicate: Predicate<Sample>) throws -> [Int] {
      try store.context.fetch(FetchDescriptor(predicate: predicate)).map(\.number)
    }
    let list = ["x", one]
    #expect(try numbers(#Predicate { $0.text == one }) == [1])
    #expect(try numbers(#Predicate { $0.tags.contains(one) }) == [1])
    #expect(try numbers(#Predicate { $0.place.city == other }) == [2])
    #expect(try numbers(#Predicate { list.contains($0.text) }) == [1])
    #expect(try numbers(#Predicate { $0.text.hasSuffix("\0y") }) == [2])
  }

  // MARK: Values of other types

  /// Pairs of conditions, of which each object that is read meets exactly one.
  private static let opposites: [String: [(Predicate<Sample>, Predicate<Sample>)]] = {
    let (numbers, texts) = ([0, 1], ["", "a"])
    let (date, id) = (Date(timeIntervalSinceReferenceDate: 0), UUID())
    return [
      "number": [
        (#Predicate { $0.number == 0 }, #Predicate { $0.number != 0 }),
        (#Predicate { $0.number < 1 }, #Predicate { $0.number >= 1 }),
        (#Predicate { $0.number > -1 }, #Predicate { !($0.number > -1) }),
        (#Predicate { numbers.contains($0.number) }, #Predicate { !numbers.contains($0.number) }),
        (#Predicate { (0...5).contains($0.number) }, #Predicate { !(0...5).contains($0.number) }),
        (#Predicate { $0.number + 1 > 0 }, #Predicate { $0.number + 1 <= 0 }),
      ],
      "text": [
        (#Predicate { $0.text == "" }, #Predicate { $0.text != "" }),
        (#Predicate { $0.text < "b" }, #Predicate { $0.text >= "b" }),
        (#Predicate { $0.text.isEmpty }, #Predicate { !$0.text.isEmpty }),
        (#Predicate { $0.text.contains("x") }, #Predicate { !$0.text.contains("x") }),
        (#Predicate { $0.text.hasPrefix("x") }, #Predicate { !$0.text.hasPrefix("x") }),
        (#Predicate { texts.contains($0.text) }, #Predicate { !texts.contains($0.text) }),
      ],
      "flag": [(#Predicate { $0.flag }, #Predicate { !$0.flag })],
      "real": [(#Predicate { $0.real < 1 }, #Predicate { $0.real >= 1 })],
      "date": [(#Predicate { $0.date <= date }, #Predicate { $0.date > date })],
      "small": [(#Predicate { $0.small == 0 }, #Predicate { $0.small != 0 })],
      "unsigned": [(#Predicate { $0.unsigned < 1 }, #Predicate { $0.unsigned >= 1 })],
      "decimal": [(#Predicate { $0.decimal < 1 }, #Predicate { $0.decimal >= 1 })],
      "uuid": [(#Predicate { $0.uuid == id }, #Predicate { $0.uuid != id })],
    ]
  }()

  /// The store compares what the column has, for which it can use an index. In memory an object has what was read.
  @Test(arguments: opposites.keys.sorted())
  func `NULL in a required column meets no condition in the store, and reads as zero`(
    column: String
  ) throws {
    let store = try SampleStore([Sample(number: 3, text: "x")])
    try store.execute("UPDATE Sample SET \(column) = NULL")
    for (index, (condition, opposite)) in (Self.opposites[column] ?? []).enumerated() {
      let context = ModelContext(store.container)
      func count(_ predicate: Predicate<Sample>) throws -> Int {
        try context.fetchCount(FetchDescriptor(predicate: predicate))
      }
      let place: Comment = "pair \(index)"
      #expect(try (count(condition), count(opposite)) == (0, 0), place)
      let sample = try #require(try context.fetch(FetchDescriptor<Sample>()).first)
      sample.tags = ["pending"]
      #expect(try count(condition) + count(opposite) == 1, place)
    }
  }

  @Test func `NULL in a required column equals nil, is sorted first, and is in no sum`() throws {
    let store = try SampleStore([Sample(number: -1), Sample(number: 3), Sample(number: 4)])
    try store.execute("UPDATE Sample SET number = NULL WHERE number = 3")
    let context = ModelContext(store.container)
    let none: Int? = nil
    func count(_ predicate: Predicate<Sample>) throws -> Int {
      try context.fetchCount(FetchDescriptor(predicate: predicate))
    }
    #expect(try count(#Predicate { $0.number == none }) == 1)
    #expect(try count(#Predicate { $0.number != none }) == 2)
    let sorted = FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.number)])
    #expect(try context.fetch(sorted).map(\.number) == [0, -1, 4])
    #expect(try context.sum(of: \Sample.number) == 3)
    #expect(try context.average(of: \Sample.number) == 1.5)
    #expect(try context.minimum(of: \Sample.number) == -1)
    #expect(throws: SwiftDataError.unreadableValue) { try context.distinct(\Sample.number) }
    #expect(throws: SwiftDataError.unreadableValue) {
      try context.counts(of: Sample.self, by: \Sample.number)
    }
  }

  /// How many of one row meet a condition and its opposite, in the store and in memory.
  struct Misfit: Sendable, CustomTestStringConvertible {
    let column: String
    let value: String
    let pair: Int
    let store: [Int]
    let memory: [Int]
    var testDescription: String { "\(column) = \(value), \(pair)" }
  }

  @Test(arguments: [
    Misfit(column: "number", value: "'abc'", pair: 1, store: [0, 1], memory: [1, 0]),
    Misfit(column: "number", value: "x'00'", pair: 3, store: [0, 1], memory: [1, 0]),
    Misfit(column: "text", value: "x'00'", pair: 1, store: [0, 1], memory: [1, 0]),
    Misfit(column: "unsigned", value: "'abc'", pair: 0, store: [0, 1], memory: [1, 0]),
    Misfit(column: "date", value: "'abc'", pair: 0, store: [0, 0], memory: [1, 0]),
    Misfit(column: "flag", value: "7", pair: 0, store: [0, 0], memory: [1, 0]),
  ])
  func `a value of another type is compared as it is in the store, and as it is read in memory`(
    misfit: Misfit
  ) throws {
    let store = try SampleStore([Sample()])
    try store.execute("UPDATE Sample SET \(misfit.column) = \(misfit.value)")
    let pair = try #require(Self.opposites[misfit.column]?[misfit.pair])
    let context = ModelContext(store.container)
    func counts() throws -> [Int] {
      try [pair.0, pair.1].map { try context.fetchCount(FetchDescriptor(predicate: $0)) }
    }
    #expect(try counts() == misfit.store)
    let sample = try #require(try context.fetch(FetchDescriptor<Sample>()).first)
    sample.tags = ["pending"]
    #expect(try counts() == misfit.memory)
  }

  // MARK: Identifiers

  @Test func `an identifier of another entity finds nothing`() throws {
    let store = try SampleStore([Sample(number: 1)], labels: [Label(name: "one", weight: 1)])
    let (sample, label) = (store.samples[0], store.labels[0])
    let foreign = [label.persistentModelID]
    #expect(foreign[0].id != sample.persistentModelID.id)
    func count(_ predicate: Predicate<Sample>) throws -> Int {
      try store.context.fetchCount(FetchDescriptor(predicate: predicate))
    }
    #expect(try count(#Predicate { foreign.contains($0.persistentModelID) }) == 0)
    #expect(try count(#Predicate { !foreign.contains($0.persistentModelID) }) == 1)
    let (mine, other) = (sample.persistentModelID, label.persistentModelID)
    #expect(try count(#Predicate { $0.persistentModelID == other }) == 0)
    #expect(try count(#Predicate { $0.persistentModelID != other }) == 1)
    #expect(try count(#Predicate { $0.persistentModelID == mine }) == 1)
    let both = [mine, other]
    #expect(try count(#Predicate { both.contains($0.persistentModelID) }) == 1)
  }

  /// In a hierarchy, whose classes share a table, an identifier has the object's own class.
  @Test func `an identifier finds the object of its own class alone`() throws {
    let store = try SampleStore([])
    let (animal, dog) = (Animal(name: "cat"), Dog(name: "dog", tricks: 1))
    store.context.insert(animal)
    store.context.insert(dog)
    try store.context.save()
    let ids = [animal.persistentModelID, dog.persistentModelID]
    let storeID = try #require(ids[0].storeIdentifier)
    var forged: [PersistentIdentifier] = []
    for id in ids {
      for entity in ["Animal", "Dog", "Sample", "Nothing"] {
        forged.append(
          try .identifier(for: storeID, entityName: entity, primaryKey: id.row))
      }
    }
    for id in forged {
      let list = [id]
      let isReal = ids.contains(id)
      func count<M: PersistentModel>(_ predicate: Predicate<M>) throws -> Int {
        try store.context.fetchCount(FetchDescriptor(predicate: predicate))
      }
      let comment = Comment(rawValue: "\(id)")
      #expect(
        try count(#Predicate<Animal> { list.contains($0.persistentModelID) }) == (isReal ? 1 : 0),
        comment)
      #expect(
        try count(#Predicate<Animal> { !list.contains($0.persistentModelID) }) == (isReal ? 1 : 2),
        comment)
      #expect(
        try count(#Predicate<Animal> { $0.persistentModelID == id }) == (isReal ? 1 : 0), comment)
      #expect(
        try count(#Predicate<Animal> { $0.persistentModelID != id }) == (isReal ? 1 : 2), comment)
    }
  }

  // MARK: References

  /// A store in memory with two samples, the second of which refers to a row that is gone.
  private func dangling() throws -> (ModelContext, SampleStore) {
    let store = try SampleStore([Sample(text: "root"), Sample(text: "lost"), Sample(text: "kept")])
    store.samples[2].parent = store.samples[0]
    try store.context.save()
    try store.execute("UPDATE Sample SET parent = 99 WHERE text = 'lost'")
    return (ModelContext(store.container), store)
  }

  @Test func `a reference whose row is gone is nil`() throws {
    let (context, store) = try dangling()
    func texts(_ predicate: Predicate<Sample>) throws -> Set<String> {
      Set(try context.fetch(FetchDescriptor(predicate: predicate)).map(\.text))
    }
    #expect(try texts(#Predicate { $0.parent == nil }) == ["root", "lost"])
    #expect(try texts(#Predicate { $0.parent != nil }) == ["kept"])
    #expect(try texts(#Predicate { !($0.parent == nil) }) == ["kept"])
    #expect(try texts(#Predicate { $0.parent?.children.isEmpty == nil }) == ["root", "lost"])
    #expect(try texts(#Predicate { ($0.parent?.children.count ?? -1) == -1 }) == ["root", "lost"])
    let root = store.samples[0]
    #expect(try texts(#Predicate { $0.parent == root }) == ["kept"])
    #expect(try texts(#Predicate { $0.parent != root }) == ["root", "lost"])
    let samples = try context.fetch(FetchDescriptor<Sample>())
    #expect(samples.first { $0.text == "lost" }?.parent == nil)
  }

  @Test func `an identifier of a row that is gone equals no reference`() throws {
    let (context, store) = try dangling()
    let storeID = try #require(store.samples[0].persistentModelID.storeIdentifier)
    let gone = try PersistentIdentifier.identifier(
      for: storeID, entityName: "Sample", primaryKey: 99)
    let list = [gone]
    func count(_ predicate: Predicate<Sample>) throws -> Int {
      try context.fetchCount(FetchDescriptor(predicate: predicate))
    }
    #expect(try count(#Predicate { $0.parent?.persistentModelID == gone }) == 0)
    #expect(try count(#Predicate { $0.parent?.persistentModelID != gone }) == 3)
    #expect(
      try count(
        #Predicate { sample in
          sample.parent.flatMap { list.contains($0.persistentModelID) } ?? false
        }) == 0)
  }
}

extension SampleStore {
  /// Changes rows as another program does.
  func execute(_ sql: String) throws {
    for store in container.stores { try store.write { try $0.execute(sql) } }
  }
}
