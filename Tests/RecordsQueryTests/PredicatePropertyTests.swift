import Foundation
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

/// Random predicates over random rows, some of which trap in Swift: what SQL finds is what memory finds.
struct PredicatePropertyTests {
  /// Random predicates, each run over all rows.
  static let caseCount = Effort.times(3_000, long: 120_000)
  static let rowCount = 14
  /// Each so many-th predicate is also run over objects with unsaved changes.
  static let editedStep = 5

  /// What the words of an expression have in which a row may match on which Swift traps: see Predicates.md.
  static let exceptions = ["&&", "||", "{"]

  private static func makeSamples(_ random: inout RandomExpression) -> [Sample] {
    let samples = (0..<rowCount).map { index in
      Sample(
        number: Int(random.random.next() % 12) - 5, text: random.pick(Hard.texts),
        optionalNumber: random.chance(1, in: 3) ? nil : random.pick(Hard.integers),
        optionalText: random.chance(1, in: 3) ? nil : random.pick(Hard.texts),
        flag: random.chance(1, in: 2), real: random.pick(Hard.reals),
        optionalReal: random.chance(1, in: 3) ? nil : random.pick(Hard.reals),
        unsigned: random.pick([0, 7, UInt64(Int64.max) + 1, .max]),
        decimal: random.pick([0, 1.5, -0.25, Decimal(string: "12345678901234567890.25") ?? 0]),
        mood: random.pick(Mood.allCases),
        optionalMood: random.chance(1, in: 3) ? nil : random.pick(Mood.allCases),
        rank: random.pick(Rank.allCases),
        tags: (0..<Int(random.random.next() % 3)).map { _ in
          random.pick(Hard.texts)
        },
        numbers: (0..<Int(random.random.next() % 4)).map { _ in random.pick(Hard.integers) },
        place: Place(
          city: random.pick(["", "Oslo", "e\u{301}", "K", "a\0b", "a", #"\u0000"#]), zip: nil,
          height: random.pick(Hard.finite)))
    }
    for (index, sample) in samples.enumerated() where index > 0 && random.chance(2, in: 3) {
      sample.parent = samples[Int(random.random.next() % UInt64(index))]
    }
    return samples
  }

  /// Has some rows refer to rows that don't exist, and picks identifiers to compare with: of these rows, of others, of
  /// other entities, of another store, and temporary ones. Returns a context that sees the rows.
  private static func makeHostile(
    _ store: SampleStore, _ random: inout RandomExpression
  ) throws -> (ModelContext, [Sample]) {
    try store.execute("UPDATE Sample SET parent = 1000 + _id % 2 WHERE _id % 4 = 1")
    let context = ModelContext(store.container)
    let samples = try context.fetch(FetchDescriptor<Sample>())
    let own = samples.map(\.persistentModelID)
    let storeID = try #require(own[0].storeIdentifier)
    random.identifiers = own + store.labels.map(\.persistentModelID)
    random.identifiers.append(Sample().persistentModelID)
    for (store, entity, key) in [
      (storeID, "Sample", 1000), (storeID, "Sample", 1001), (storeID, "Label", 3),
      (storeID, "Animal", 2), (storeID, "Nothing", 2), ("other", "Sample", 2),
    ] {
      random.identifiers.append(
        try .identifier(for: store, entityName: entity, primaryKey: key))
    }
    return (context, samples)
  }

  /// A context in which every second row has an unsaved change of a property that no predicate reads.
  private static func makeEdited(_ store: SampleStore) throws -> (ModelContext, [Sample]) {
    let context = ModelContext(store.container)
    let samples = try context.fetch(FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.uuid)]))
    for (index, sample) in samples.enumerated() where index % 2 == 0 { sample.small += 1 }
    return (context, samples)
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `finds what memory finds`(seed: UInt64) throws {
    let variable = PredicateExpressions.Variable<Sample>()
    var random = RandomExpression(random: SplitMix(seed: seed), sample: variable)
    let labels = [Label(name: "one", weight: 1), Label(name: "two", weight: 2)]
    let store = try SampleStore(Self.makeSamples(&random), labels: labels)
    for sample in store.samples {
      sample.labels = labels.filter { _ in random.chance(1, in: 2) }
    }
    try store.context.save()
    let (context, samples) = try Self.makeHostile(store, &random)
    let (editing, edited) = try Self.makeEdited(store)
    let layout = try StoreLayout(schema: store.container.schema)
    let entity = try #require(layout.entity(for: Sample.self))
    let translator = QueryTranslator(
      layout: layout, store: samples[0].persistentModelID.storeIdentifier)
    var (inexact, failures) = (0, 0)
    for index in 0..<Self.caseCount / 2 where failures < 5 {
      let expression = random.condition(3)
      let predicate = Predicate<Sample> { RebasedVariable.bind(variable, to: $0, expression) }
      let query = try translator.translate(predicate: predicate, sortBy: [], entity: entity)
      if !query.isExact { inexact += 1 }
      let found = Set(
        try context.fetch(FetchDescriptor(predicate: predicate)).map(ObjectIdentifier.init))
      let checked = predicate.expression.checkedOrSame()
      func value(_ sample: Sample) -> Bool? {
        try? checked.evaluate(PredicateBindings((predicate.variable, sample)))
      }
      if index % Self.editedStep == 0 {
        let found = Set(
          try editing.fetch(FetchDescriptor(predicate: predicate)).map(ObjectIdentifier.init))
        let wrong = edited.enumerated().first { place, sample in
          place % 2 == 0 && found.contains(ObjectIdentifier(sample)) != (value(sample) ?? false)
        }
        #expect(wrong == nil, "seed \(seed), case \(index): \(expression.text), unsaved changes")
      }
      let hasExceptions = Self.exceptions.contains { expression.text.contains($0) }
      for sample in samples {
        let value = value(sample)
        // Where Swift throws or traps, a row does not match.
        if value == nil, hasExceptions { continue }
        let expected = value ?? false
        guard expected != found.contains(ObjectIdentifier(sample)) else { continue }
        failures += 1
        Issue.record(
          """
          seed \(seed), case \(index): \(expression.text) is \(expected) in memory, \(!expected) in SQL
          \(query.condition?.sql ?? "-") \(query.condition?.bindings ?? [])
          text \(sample.text.debugDescription) \(sample.optionalText.debugDescription) \
          number \(sample.number) \(sample.optionalNumber as Any) real \(sample.real) \
          \(sample.optionalReal as Any) place \(sample.place) tags \(sample.tags)
          """)
        break
      }
    }
    #expect(inexact <= Self.caseCount / 100, "\(inexact) predicates were left to memory")
  }
}

/// Gives the variable that an expression was made with the value of a predicate's own one.
struct RebasedVariable: StandardPredicateExpression, SQLTranslatable {
  let own: PredicateExpressions.Variable<Sample>
  let other: PredicateExpressions.Variable<Sample>
  let expression: Erased<Bool>

  static func bind(
    _ own: PredicateExpressions.Variable<Sample>, to other: PredicateExpressions.Variable<Sample>,
    _ expression: Erased<Bool>
  ) -> RebasedVariable { RebasedVariable(own: own, other: other, expression: expression) }

  func evaluate(_ bindings: PredicateBindings) throws -> Bool {
    try expression.evaluate(bindings.binding(own, to: other.evaluate(bindings)))
  }

  func checkedNode() -> CheckedExpression<Bool>? {
    expression.checked().map { inner in
      CheckedExpression { try inner.evaluate($0.binding(own, to: other.evaluate($0))) }
    }
  }

  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.binding(own.key, to: translation.variable(other.key)) {
      try translation.term(expression, mode)
    }
  }
}
