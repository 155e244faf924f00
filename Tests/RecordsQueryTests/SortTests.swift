import Foundation
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

/// Orders in SQL are Foundation's.
struct SortTests {
  private static func makeStore() throws -> SampleStore {
    var random = RandomExpression(
      random: SplitMix(seed: 3), sample: PredicateExpressions.Variable<Sample>())
    let samples = (0..<60).map { index in
      Sample(
        number: index, text: random.pick(Hard.texts) + random.pick(Hard.texts),
        optionalNumber: random.chance(1, in: 3) ? nil : random.pick(Hard.integers),
        optionalText: random.chance(1, in: 3) ? nil : random.pick(Hard.texts),
        flag: random.chance(1, in: 2),
        real: random.pick(Hard.reals.filter { !$0.isNaN }),
        unsigned: random.pick([0, 7, UInt64(Int64.max) + 1, .max]),
        decimal: random.pick([0, 1.5, -0.25, 100, -3]), rank: random.pick(Rank.allCases))
    }
    for (index, sample) in samples.enumerated() where index > 0 && index % 3 > 0 {
      sample.parent = samples[index / 2]
    }
    return try SampleStore(samples)
  }

  private func check(
    _ make: (SortOrder) -> SortDescriptor<Sample>, isExact: Bool = true, _ store: SampleStore,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let layout = try StoreLayout(schema: store.container.schema)
    let entity = try #require(layout.entity(for: Sample.self))
    // The number makes the order total, so that equal values cannot hide a difference.
    for order in [SortOrder.forward, .reverse] {
      // Foundation on Linux ignores a change of a descriptor's order in its own comparison.
      let descriptors = [make(order), SortDescriptor(\Sample.number)]
      let query = try QueryTranslator(layout: layout).translate(
        predicate: nil, sortBy: descriptors, entity: entity)
      #expect(query.orderIsExact == isExact, "\(query.reasons)", sourceLocation: sourceLocation)
      let found = try store.context.fetch(FetchDescriptor(sortBy: descriptors)).map(\.number)
      let expected = store.samples.sorted(using: descriptors).map(\.number)
      #expect(found == expected, "\(query.order?.sql ?? "-")", sourceLocation: sourceLocation)
    }
  }

  @Test func `orders as Foundation does`() throws {
    let store = try Self.makeStore()
    try check({ SortDescriptor(\.text, order: $0) }, store)
    try check({ SortDescriptor(\.text, comparator: .lexical, order: $0) }, store)
    try check({ SortDescriptor(\.optionalText, order: $0) }, store)
    try check({ SortDescriptor(\.optionalText, comparator: .lexical, order: $0) }, store)
    try check({ SortDescriptor(\.text, comparator: .localizedStandard, order: $0) }, store)
    try check({ SortDescriptor(\.optionalText, comparator: .localizedStandard, order: $0) }, store)
    try check({ SortDescriptor(\.text, comparator: .localized, order: $0) }, store)
    try check({ SortDescriptor(\.optionalText, comparator: .localized, order: $0) }, store)
    try check({ SortDescriptor(\.parent?.text, comparator: .localizedStandard, order: $0) }, store)
    try check({ SortDescriptor(\.optionalNumber, order: $0) }, store)
    try check({ SortDescriptor(\.real, order: $0) }, store)
    try check({ SortDescriptor(\.unsigned, order: $0) }, store)
    try check({ SortDescriptor(\.decimal, order: $0) }, store)
    try check({ SortDescriptor(\.rank, order: $0) }, store)
    try check({ SortDescriptor(\.uuid, order: $0) }, store)
    try check({ SortDescriptor(\.date, order: $0) }, store)
    try check({ SortDescriptor(\.parent?.text, order: $0) }, store)
    try check({ SortDescriptor(\.parent?.parent?.optionalNumber, order: $0) }, store)
    try check({ SortDescriptor(\.flag, order: $0) }, store)
    try check({ SortDescriptor(\.parent?.flag, order: $0) }, store)
    try check({ SortDescriptor(\.shout, order: $0) }, isExact: false, store)
  }

  @Test func `traces generic key paths`() throws {
    let store = try Self.makeStore()
    func numbered<T: PersistentModel & Texted>(_ type: T.Type, _ text: String) -> Predicate<T> {
      #Predicate<T> { $0.text == text || $0.shout == text }
    }
    func texted<T: PersistentModel & Texted>(_ type: T.Type, _ text: String) -> Predicate<T> {
      #Predicate<T> { $0.text == text }
    }
    let text = store.samples[4].text
    let layout = try StoreLayout(schema: store.container.schema)
    let entity = try #require(layout.entity(for: Sample.self))
    let translator = QueryTranslator(layout: layout)
    #expect(
      try translator.translate(
        predicate: texted(Sample.self, text), sortBy: [], entity: entity
      ).isExact)
    #expect(
      try !translator.translate(
        predicate: numbered(Sample.self, text), sortBy: [], entity: entity
      ).isExact)
    let found = try store.context.fetch(FetchDescriptor(predicate: texted(Sample.self, text)))
    #expect(Set(found.map(\.number)) == Set(store.samples.filter { $0.text == text }.map(\.number)))
  }
}

protocol Texted {
  var text: String { get }
  var shout: String { get }
}
extension Sample: Texted {}
