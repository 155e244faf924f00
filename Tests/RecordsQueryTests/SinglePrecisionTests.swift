import Foundation
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

/// A `Float` wherever JSON has it: in arrays, sets and fields of structs.
@Model final class Gauge {
  var row: Int
  var plain: Float
  var list: [Float]
  var optionalList: [Float]?
  var set: Set<Float>
  var levels: [Level]
  var dial: Dial

  init(row: Int, _ values: [Float]) {
    self.row = row
    plain = values[0]
    list = values
    optionalList = row % 3 == 0 ? nil : values.reversed()
    set = Set(values)
    levels = values.map { $0 < 0.2 ? .low : $0 < 1 ? .middle : .high }
    dial = Dial(
      value: values[1], optional: row % 2 == 0 ? nil : values[2],
      history: Array(values.dropFirst()),
      inner: Dial.Inner(value: values[0]))
  }
}

enum Level: Float, Codable, Sendable {
  case low = 0.1
  case middle = 0.7
  case high = 1.3
}

struct Dial: Codable {
  struct Inner: Codable { var value: Float }
  var value: Float
  var optional: Float?
  var history: [Float]
  var inner: Inner
}

/// JSON has a `Float` with the digits that tell it from other `Float`s: 0.1. Read as a `Double` that is another number
/// than the one of a column, so a saved row was not found, and a deletion of rows without a value took those with it.
struct SinglePrecisionTests {
  private static let values: [Float] = [
    0.1, 0.2, 0.3, 0.7, .pi, 1 / 3, -0.1, 5, 16_777_216, 1.3, .leastNonzeroMagnitude,
    .greatestFiniteMagnitude, .infinity,
  ]

  private static func predicates(_ value: Float) -> [Predicate<Gauge>] {
    let level = Level(rawValue: value) ?? .middle
    let several = [value, value.nextUp]
    return [
      #Predicate { $0.plain == value },
      #Predicate { $0.list.contains(value) },
      #Predicate { !$0.list.contains(value) },
      #Predicate { $0.list.contains { $0 == value } },
      #Predicate { $0.list.contains { $0 < value } },
      #Predicate { $0.list.allSatisfy { $0 >= value } },
      #Predicate { $0.list.filter { $0 == value }.count == 1 },
      #Predicate { $0.list.max() == value },
      #Predicate { $0.list.min() == value },
      #Predicate { $0.list.contains($0.plain) },
      #Predicate { $0.list.contains($0.dial.value) },
      #Predicate { $0.optionalList?.contains(value) == true },
      #Predicate { $0.set.contains(value) },
      #Predicate { $0.levels.contains(level) },
      #Predicate { $0.dial.value == value },
      #Predicate { $0.dial.value <= value },
      #Predicate { $0.dial.value == $0.plain },
      #Predicate { $0.dial.optional == value },
      #Predicate { $0.dial.optional != value },
      #Predicate { several.contains($0.dial.value) },
      #Predicate { $0.dial.history.contains(value) },
      #Predicate { $0.dial.inner.value == value },
      #Predicate { $0.dial.inner.value > value },
    ]
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `predicates find what JSON has of a Float`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let container = try ModelContainer(
      for: Gauge.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let gauges = (0..<20).map { row in
      let count = Int.random(in: 3...5, using: &random)
      return Gauge(
        row: row,
        (0..<count).map { _ in
          Bool.random(using: &random)
            ? Self.values.randomElement(using: &random)! : Float.random(in: -1...1, using: &random)
        })
    }
    gauges.forEach(context.insert)
    try context.save()
    let order = [SortDescriptor(\Gauge.row)]
    for value in Self.values + gauges.map(\.plain) {
      for (index, predicate) in Self.predicates(value).enumerated() {
        let expected = try gauges.filter { try predicate.evaluate($0) }.map(\.row)
        let found = try context.fetch(FetchDescriptor(predicate: predicate, sortBy: order))
        #expect(found.map(\.row) == expected, "predicate \(index) of \(value)")
      }
    }
  }

  @Test func `a deletion keeps the rows that have the value`() throws {
    let container = try ModelContainer(
      for: Gauge.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    for row in 0..<3 { context.insert(Gauge(row: row, [Float(row + 1) / 10, 2, 3])) }
    try context.save()
    let value: Float = 0.2
    try context.delete(model: Gauge.self, where: #Predicate { !$0.list.contains(value) })
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Gauge>()).map(\.row) == [1])
  }
}
