import Foundation
import SwiftData
import Testing

@testable import SteadRecords

/// Aggregates give what Swift gives over the objects, in SQL and with unsaved changes.
struct AggregateTests {
  private static func makeStore() throws -> SampleStore {
    let samples = (0..<30).map { index -> Sample in
      let sample = Sample(number: index, text: ["e\u{301}", "\u{E9}", "b"][index % 3])
      sample.optionalNumber = index % 4 == 0 ? nil : index * 2
      sample.flag = index % 2 == 0
      sample.real = Double(index) / 4
      sample.unsigned = UInt64(Int64.max) + UInt64(index)
      sample.decimal = Decimal(index) / 10
      sample.mood = Mood.allCases[index % 3]
      sample.rank = Rank.allCases[index % 3]
      return sample
    }
    return try SampleStore(samples)
  }

  @Test(arguments: [false, true])
  func `agrees with Swift`(hasChanges: Bool) throws {
    let store = try Self.makeStore()
    let (context, all) = (store.context, store.samples)
    if hasChanges { all[3].number = 1_000 }
    let odd = #Predicate<Sample> { !$0.flag }
    let odds = all.filter { !$0.flag }
    #expect(try context.count(Sample.self, where: odd) == odds.count)
    #expect(try context.sum(of: \Sample.number) == all.map(\.number).reduce(0, +))
    #expect(try context.sum(of: \Sample.number, where: odd) == odds.map(\.number).reduce(0, +))
    #expect(
      try context.sum(of: \Sample.optionalNumber) == all.compactMap(\.optionalNumber).reduce(0, +))
    #expect(try context.sum(of: \Sample.real) == all.map(\.real).reduce(0, +))
    #expect(try context.sum(of: \Sample.decimal) == all.map(\.decimal).reduce(0, +))
    #expect(try context.average(of: \Sample.real) == all.map(\.real).reduce(0, +) / 30)
    #expect(try context.maximum(of: \Sample.number) == all.map(\.number).max())
    #expect(try context.minimum(of: \Sample.text) == "b")
    #expect(try context.maximum(of: \Sample.unsigned) == all.map(\.unsigned).max())
    #expect(try context.maximum(of: \Sample.decimal) == Decimal(29) / 10)
    #expect(try context.minimum(of: \Sample.optionalNumber) == 2)
    #expect(try context.maximum(of: \Sample.date) == all.map(\.date).max())
    #expect(try context.distinct(\Sample.text) == ["\u{E9}", "b"])
    #expect(try context.distinct(\Sample.mood) == Set(Mood.allCases))
    #expect(try context.distinct(\Sample.optionalMood) == [nil])
  }

  @Test(arguments: [false, true])
  func groups(hasChanges: Bool) throws {
    let store = try Self.makeStore()
    let (context, all) = (store.context, store.samples)
    if hasChanges { all[3].number = 1_000 }
    let groups = Dictionary(grouping: all, by: \.text)
    #expect(try context.counts(of: Sample.self, by: \.text) == groups.mapValues(\.count))
    #expect(
      try context.sums(of: \Sample.number, by: \.text)
        == groups.mapValues { $0.map(\.number).reduce(0, +) })
    #expect(
      try context.maximums(of: \Sample.number, by: \.text)
        == groups.mapValues { $0.map(\.number).max() ?? 0 })
    #expect(
      try context.minimums(of: \Sample.optionalNumber, by: \.mood)
        == Dictionary(grouping: all, by: \.mood).mapValues {
          $0.compactMap(\.optionalNumber).min() ?? 0
        })
    #expect(
      try context.averages(of: \Sample.real, by: \.flag)
        == Dictionary(grouping: all, by: \.flag).mapValues {
          $0.map(\.real).reduce(0, +) / Double($0.count)
        })
  }

  @Test func `hard values`() throws {
    let samples = [Sample(number: .max, real: .nan), Sample(number: 1, real: 1.5)]
    let store = try SampleStore(samples)
    #expect(throws: SwiftDataError.self) { try store.context.sum(of: \Sample.number) }
    #expect(try store.context.sum(of: \Sample.real).isNaN)
    #expect(try store.context.maximum(of: \Sample.real) == 1.5)
    let none = #Predicate<Sample> { $0.number == 0 }
    #expect(try store.context.sum(of: \Sample.number, where: none) == 0)
    #expect(try store.context.average(of: \Sample.number, where: none) == nil)
    #expect(try store.context.maximum(of: \Sample.text, where: none) == nil)
    // A computed property has no column; its values are read from the objects.
    #expect(try store.context.maximum(of: \Sample.shout) == "")
    #expect(try store.context.counts(of: Sample.self, by: \.parent?.number) == [nil: 2])
  }

  /// Each NaN was a group of its own while a change was pending.
  @Test(arguments: PendingRows.allCases)
  func `NaN is one group`(pending: PendingRows) throws {
    let values: [Double?] = [.nan, 1, nil, .nan, 1, -.nan]
    let store = try ReadingStore(count: values.count, pending: pending) {
      $0.optionalDouble = values[$1]
      $0.int = $1
    }
    let counts = try store.context.counts(of: Reading.self, by: \.optionalDouble)
    #expect(counts.count == 3 && counts[1] == 2 && counts[nil] == 1)
    #expect(counts.filter { $0.key?.isNaN == true }.map(\.value) == [3])
    let sums = try store.context.sums(of: \Reading.int, by: \.optionalDouble)
    #expect(sums.filter { $0.key?.isNaN == true }.map(\.value) == [8])
  }

  @Test func `structs that have NaN are not one group`() throws {
    let store = try ReadingStore(count: 2, pending: .one) {
      $0.spot = Spot(lat: .nan, level: Float($1))
    }
    let counts = try store.context.counts(of: Reading.self, by: \.spot)
    #expect(counts.map(\.value) == [1, 1])
  }

  @Test func `an error names a property behind a relationship`() throws {
    let store = try Self.makeStore()
    for sample in store.samples.prefix(2) { sample.parent = store.samples[2] }
    store.samples[2].number = .max
    try store.context.save()
    let error = try #require(throws: SwiftDataError.self) {
      try store.context.sum(of: \Sample.parent?.number)
    }
    #expect(error.message.contains("The sum of Sample.parent.number does not"), "\(error)")
  }
}
