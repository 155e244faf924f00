import Foundation
import SwiftData
import Testing

@testable import SteadRecords

/// Every form that `#Predicate` accepts finds in SQL what it finds in memory.
struct PredicateFormTests {
  private static func makeStore() throws -> SampleStore {
    let root = Sample(
      number: 1, text: "Kiosk", optionalNumber: 5, optionalText: "Café", flag: true, real: 1.5,
      optionalReal: 2.5, small: 3, unsigned: .max, decimal: 1.5, mood: .glad, optionalMood: .wild,
      rank: .high, tags: ["red", "blue"], numbers: [3, 1, 2],
      place: Place(city: "Oslo", zip: 150, height: 0.1), link: URL(string: "https://a.b/c"),
      data: Data([1, 2]))
    let child = Sample(
      number: -7, text: "straße\r\n", optionalText: "cafe\u{301}", real: .nan, unsigned: 7,
      decimal: -0.25, rank: .middle, tags: [], numbers: [],
      place: Place(city: "Rome", zip: nil, height: -3))
    let other = Sample(
      number: 40, text: "", optionalNumber: -2, flag: true, real: .infinity, optionalReal: .nan,
      mood: .wild, tags: ["red"], numbers: [9])
    let grandchild = Sample(number: 41, text: "\u{212A}iosk", optionalNumber: 41)
    child.parent = root
    grandchild.parent = child
    let labels = [Label(name: "one", weight: 1), Label(name: "two", weight: 2)]
    let store = try SampleStore([root, child, other, grandchild], labels: labels)
    root.labels = labels
    other.labels = [labels[1]]
    try store.context.save()
    return store
  }

  /// Compares SQL with memory; `isExact` says that nothing may be left to memory, `selects` that some of the
  /// objects match and some do not.
  private func check(
    _ predicate: Predicate<Sample>, isExact: Bool = true, selects: Bool = true,
    _ store: SampleStore,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let layout = try StoreLayout(schema: store.container.schema)
    let entity = try #require(layout.entity(for: Sample.self))
    let query = try QueryTranslator(layout: layout).translate(
      predicate: predicate, sortBy: [], entity: entity)
    #expect(
      query.isExact == isExact, "\(query.reasons) \(query.condition?.sql ?? "-")",
      sourceLocation: sourceLocation)
    let found = Set(
      try ModelContext(store.container).fetch(FetchDescriptor(predicate: predicate)).map(\.number))
    let expected = Set(
      store.samples.filter { (try? predicate.evaluate($0)) ?? false }.map(\.number))
    #expect(found == expected, "\(query.condition?.sql ?? "-")", sourceLocation: sourceLocation)
    let isChoice = !expected.isEmpty && expected.count < store.samples.count
    #expect(isChoice == selects, "\(expected)", sourceLocation: sourceLocation)
  }

  @Test func comparisons() throws {
    let store = try Self.makeStore()
    let (five, name, now) = (5, "Kiosk", Date.now)
    try check(#Predicate { $0.number == 1 }, store)
    try check(#Predicate { $0.number != 1 && $0.number < 41 }, store)
    try check(#Predicate { $0.optionalNumber == five }, store)
    try check(#Predicate { $0.optionalNumber != five }, store)
    try check(#Predicate { !($0.optionalNumber == five) }, store)
    try check(#Predicate { $0.optionalNumber == nil }, store)
    try check(#Predicate { $0.optionalNumber == $0.number }, store)
    try check(#Predicate { !($0.optionalNumber == $0.number) }, store)
    try check(#Predicate { $0.text == name }, store)
    try check(#Predicate { $0.text > name }, store)
    try check(#Predicate { $0.optionalText == "Caf\u{E9}" }, store)
    try check(#Predicate { $0.optionalText != "caf\u{E9}" }, store)
    try check(#Predicate { $0.date < now && $0.date <= Date.now }, selects: false, store)
    try check(
      #Predicate { $0.optionalDate == nil || $0.optionalDate! > now }, selects: false, store)
    try check(#Predicate { $0.flag }, store)
    try check(#Predicate { !$0.flag || $0.flag == false }, store)
    try check(#Predicate { $0.real > 1 }, store)
    try check(#Predicate { !($0.real > 1) }, store)
    try check(#Predicate { $0.real == $0.real }, store)
    try check(#Predicate { $0.optionalReal != $0.optionalReal }, store)
    try check(#Predicate { $0.unsigned > 8 }, store)
    try check(#Predicate { $0.decimal < 1 }, store)
    try check(#Predicate { $0.rank >= .middle }, store)
    try check(#Predicate { $0.data == Data([1, 2]) }, store)
    try check(#Predicate { $0.link == URL(string: "https://a.b/c") }, store)
  }

  @Test func enums() throws {
    let store = try Self.makeStore()
    try check(#Predicate { $0.mood == .glad }, store)
    try check(#Predicate { $0.mood == Mood.glad || $0.optionalMood == .wild }, store)
    try check(#Predicate { $0.mood.rawValue == "wild" }, store)
    try check(#Predicate { $0.optionalMood?.rawValue == "wild" }, store)
    try check(#Predicate { [Mood.glad, .wild].contains($0.mood) }, store)
  }

  @Test func texts() throws {
    let store = try Self.makeStore()
    try check(#Predicate { $0.text.hasPrefix("Ki") }, store)
    try check(#Predicate { $0.text.hasSuffix("sk") && !$0.text.hasSuffix("\n") }, store)
    try check(#Predicate { $0.text.lowercased() == "kiosk" }, store)
    try check(#Predicate { $0.text.uppercased().contains("STRASSE") }, store)
    try check(#Predicate { $0.text.localizedStandardContains("KIO") }, store)
    try check(#Predicate { $0.optionalText?.localizedStandardContains("CAFE") == true }, store)
    try check(#Predicate { $0.optionalText?.localizedStandardContains("CAFE") != true }, store)
    try check(#Predicate { $0.text.localizedCaseInsensitiveContains("kIO") }, store)
    try check(#Predicate { $0.text.caseInsensitiveCompare("kiosk") == .orderedSame }, store)
    try check(#Predicate { $0.text.localizedCompare("L") == .orderedAscending }, store)
    try check(#Predicate { $0.text.contains("\n") }, selects: false, store)
    try check(#Predicate { $0.text.starts(with: "K") && $0.text.count == 5 }, store)
    try check(#Predicate { $0.text.isEmpty || ($0.optionalText ?? "").isEmpty }, store)
    try check(#Predicate { $0.shout == "KIOSK" }, isExact: false, store)
    try check(#Predicate { $0.shout == "KIOSK" && $0.flag }, isExact: false, store)
  }

  @Test func `arithmetic and branches`() throws {
    let store = try Self.makeStore()
    try check(#Predicate { $0.number * 2 + 1 > 3 }, store)
    try check(#Predicate { $0.number / 2 == -3 && $0.number % 2 == -1 }, store)
    try check(#Predicate { -$0.real * 2 < -2.5 }, store)
    try check(#Predicate { ($0.flag ? $0.number : 100) > 30 }, store)
    try check(#Predicate { if $0.flag { $0.number == 1 } else { $0.number < 0 } }, store)
    try check(
      #Predicate<Sample> { sample in
        if let number = sample.optionalNumber { number > 0 } else { sample.flag }
      }, store)
    try check(
      #Predicate<Sample> { sample in
        let number = sample.number
        return number > 0 && number < 41
      }, store)
    try check(#Predicate { ($0.optionalNumber ?? -1) < 0 }, store)
    try check(#Predicate { $0.optionalNumber.flatMap { $0 + 1 } == 6 }, store)
    try check(#Predicate { (1...40).contains($0.number) && (0.0...).contains($0.real) }, store)
  }

  @Test func collections() throws {
    let store = try Self.makeStore()
    let (none, many) = ([Int](), Array(-5_000...5_000))
    let texts = ["Kiosk", "nothing"]
    let optionals: [Int?] = [5, nil]
    let identifiers = Set(store.samples.prefix(2).map(\.uuid))
    try check(#Predicate { none.contains($0.number) }, selects: false, store)
    try check(#Predicate { many.contains($0.number) }, selects: false, store)
    try check(#Predicate { texts.contains($0.text) }, store)
    try check(#Predicate { optionals.contains($0.optionalNumber) }, store)
    try check(#Predicate { !optionals.contains($0.optionalNumber) }, store)
    try check(#Predicate { identifiers.contains($0.uuid) }, store)
    try check(#Predicate { $0.tags.contains("red") && !$0.tags.isEmpty }, store)
    try check(#Predicate { $0.numbers.contains { $0 > 2 } }, store)
    try check(#Predicate { $0.numbers.allSatisfy { $0 > 1 } }, store)
    try check(#Predicate { $0.numbers.filter { $0 > 1 }.count == 2 }, store)
    try check(#Predicate { $0.numbers.max() == 3 || $0.numbers.first == 9 }, store)
    try check(#Predicate { $0.place.city == "Oslo" || $0.place.height == -3 }, store)
    try check(#Predicate { $0.place.zip == nil }, store)
  }

  @Test func relationships() throws {
    let store = try Self.makeStore()
    let (root, label) = (store.samples[0], store.labels[1])
    let rootID = root.persistentModelID
    try check(#Predicate { $0.parent == nil }, store)
    try check(#Predicate { $0.parent == root }, store)
    try check(#Predicate { $0.parent?.persistentModelID == rootID }, store)
    try check(#Predicate { $0.persistentModelID == rootID }, store)
    try check(#Predicate { $0.parent?.text == "Kiosk" }, store)
    try check(#Predicate { $0.parent?.text != "Kiosk" }, store)
    try check(#Predicate { !($0.parent?.text == "Kiosk") }, store)
    try check(#Predicate { $0.parent?.parent?.optionalNumber == 5 }, store)
    try check(#Predicate { $0.parent?.optionalText == nil }, store)
    try check(#Predicate { $0.parent!.flag }, store)
    try check(#Predicate { $0.children.contains { $0.number < 0 } }, store)
    try check(#Predicate { $0.children.isEmpty }, store)
    try check(#Predicate { $0.labels.count == 2 }, store)
    try check(#Predicate { $0.labels.contains(label) }, store)
    try check(#Predicate { $0.labels.filter { $0.weight > 1 }.count == 1 }, store)
    try check(#Predicate { $0.labels.allSatisfy { $0.name == "two" } }, store)
    try check(#Predicate { $0.parent?.labels.isEmpty == false }, store)
    try check(#Predicate { $0.parent?.children.contains { $0.number == -7 } ?? true }, store)
    try check(#Predicate { sample in sample.labels.contains { $0.weight > sample.number } }, store)
  }

  @Test func `nested predicates`() throws {
    let store = try Self.makeStore()
    let inner = #Predicate<Sample> { $0.number > 0 }
    let label = #Predicate<Label> { $0.weight == 1 }
    let double = #Expression<Int, Int> { $0 * 2 }
    try check(#Predicate { inner.evaluate($0) && $0.flag }, store)
    try check(#Predicate { $0.labels.contains { label.evaluate($0) } }, store)
    try check(#Predicate { double.evaluate($0.number) == 2 }, store)
  }

  @Test func subclasses() throws {
    let store = try Self.makeStore()
    store.context.insert(Animal(name: "cat"))
    store.context.insert(Dog(name: "rex", tricks: 3))
    store.context.insert(Dog(name: "old", tricks: 1))
    try store.context.save()
    func names(_ predicate: Predicate<Animal>) throws -> [String] {
      try store.context.fetch(FetchDescriptor(predicate: predicate)).map(\.name).sorted()
    }
    #expect(try names(#Predicate { $0 is Dog }) == ["old", "rex"])
    #expect(try names(#Predicate { !($0 is Dog) }) == ["cat"])
    #expect(try names(#Predicate { ($0 as? Dog)?.tricks == 3 }) == ["rex"])
  }
}
