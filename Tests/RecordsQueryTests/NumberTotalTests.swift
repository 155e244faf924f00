import Foundation
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

/// One property of each number type.
@Model final class Reading {
  /// Makes an order total.
  var place = 0
  var group = 0
  var isTouched = false
  var int8: Int8 = 0
  var int16: Int16 = 0
  var int32: Int32 = 0
  var int64: Int64 = 0
  var int = 0
  var uint8: UInt8 = 0
  var uint16: UInt16 = 0
  var uint32: UInt32 = 0
  var uint64: UInt64 = 0
  var uint: UInt = 0
  var float: Float = 0
  var double = 0.0
  var cgFloat: CGFloat = 0
  var decimal: Decimal = 0
  var date = Date(timeIntervalSinceReferenceDate: 0)
  var optionalInt8: Int8?
  var optionalInt: Int?
  var optionalUInt16: UInt16?
  var optionalUInt32: UInt32?
  var optionalFloat: Float?
  var optionalDouble: Double?
  var optionalDate: Date?
  var spot = Spot(lat: 0)
  var optionalSpot: Spot?
  var grade = Grade.best

  init() {}
}

struct Spot: Codable, Hashable {
  var lat: Double
  var level: Float?
}

/// Ordered by quality, and so not by its raw values.
enum Grade: String, Codable, Comparable, CaseIterable, Sendable {
  case best, fair, worst, absent

  static func < (left: Grade, right: Grade) -> Bool { left.quality < right.quality }
  private var quality: Int { self == .best ? 3 : self == .fair ? 2 : self == .worst ? 1 : 0 }
}

/// Which rows of a test have a pending change: none, one, or all, which are new.
enum PendingRows: CaseIterable, Sendable {
  case none, one, all
}

/// A store in memory with readings.
struct ReadingStore {
  let container: ModelContainer
  let context: ModelContext
  let readings: [Reading]

  init(count: Int, pending: PendingRows, set: (Reading, Int) -> Void) throws {
    container = try ModelContainer(
      for: Reading.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(container)
    context.autosaveEnabled = false
    readings = (0..<count).map { _ in Reading() }
    for (index, reading) in readings.enumerated() {
      reading.place = index
      set(reading, index)
      context.insert(reading)
    }
    if pending != .all { try context.save() }
    // No value of a test changes, and yet the rows don't say everything.
    if pending == .one { readings[count / 2].isTouched = true }
  }

  func execute(_ sql: String) throws {
    for store in container.stores { try store.write { try $0.execute(sql) } }
  }
}

/// The sum of saved rows came from a result column. What a narrow type did not hold was read as nil, and so became 0
/// without an error; an overflow of `Int` was SQLite's error, which said to try again. The sum of pending rows overflowed
/// on the way, although the whole sum fitted.
struct NumberTotalTests {
  // MARK: Sums

  private typealias Values<V> = [(values: [V], sum: V?)]

  private func check<V: Numeric>(
    _ path: ReferenceWritableKeyPath<Reading, V>, _ table: Values<V>,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for (values, expected) in table {
      for pending in PendingRows.allCases {
        let store = try ReadingStore(count: values.count, pending: pending) {
          $0[keyPath: path] = values[$1]
        }
        try expect(expected, "\(values), \(pending)", sourceLocation) {
          try [
            store.context.sum(of: path), store.context.sums(of: path, by: \Reading.group)[0] ?? 0,
          ]
        }
      }
    }
  }

  private func check<V: Numeric>(
    optional path: ReferenceWritableKeyPath<Reading, V?>, _ table: Values<V>,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for (values, expected) in table {
      for pending in PendingRows.allCases {
        // The last one stays nil.
        let store = try ReadingStore(count: values.count + 1, pending: pending) {
          $0[keyPath: path] = $1 < values.count ? values[$1] : nil
        }
        try expect(expected, "\(values), \(pending)", sourceLocation) {
          try [
            store.context.sum(of: path), store.context.sums(of: path, by: \Reading.group)[0] ?? 0,
          ]
        }
      }
    }
  }

  /// Expects sums, or the error that names the property.
  private func expect<V: Numeric>(
    _ expected: V?, _ comment: Comment, _ sourceLocation: SourceLocation,
    _ sums: () throws -> [V]
  ) throws {
    guard let expected else {
      let error = #expect(throws: SwiftDataError.self, comment, sourceLocation: sourceLocation) {
        try sums()
      }
      #expect(error?.code == .storeFailure, comment, sourceLocation: sourceLocation)
      #expect(
        error?.message.hasPrefix("The sum of Reading.") == true
          && error?.message.contains("does not fit into the property's type") == true,
        "\(comment): \(error as Any)", sourceLocation: sourceLocation)
      return
    }
    for sum in try sums() {
      let isSame = sum == expected || sum != sum && expected != expected
      #expect(isSame, "\(comment): \(sum)", sourceLocation: sourceLocation)
    }
  }

  private func table<I: FixedWidthInteger>(_ type: I.Type) -> Values<I> {
    let third = I.max / 3
    let result: Values<I> = [
      (values: [I.max, I.max], sum: nil), (values: [I.max, 1], sum: nil),
      (values: [I.max - 1, 1], sum: I.max), (values: [0, 0], sum: 0), (values: [I.min], sum: I.min),
      (values: [third, third, third, third], sum: nil),
    ]
    return result
  }

  private func signed<I: FixedWidthInteger & SignedInteger>(_ type: I.Type) -> Values<I> {
    let more: Values<I> = [
      (values: [I.max, 1, -5], sum: I.max - 4), (values: [I.min, -1], sum: nil),
      (values: [I.min, -1, 1], sum: I.min), (values: [I.min, I.max], sum: -1),
      (values: [I.min, I.min, I.max, I.max, 2], sum: 0),
      (values: [-1, -1, I.min, 1, 1], sum: I.min),
    ]
    return table(type) + more
  }

  @Test func `a sum of integers fits the property's type, or throws`() throws {
    try check(\.int8, signed(Int8.self))
    try check(\.int16, signed(Int16.self))
    try check(\.int32, signed(Int32.self))
    try check(\.int64, signed(Int64.self))
    try check(\.int, signed(Int.self))
    try check(\.uint8, table(UInt8.self))
    try check(\.uint16, table(UInt16.self))
    try check(\.uint32, table(UInt32.self))
    try check(\.uint64, table(UInt64.self))
    try check(\.uint, table(UInt.self))
    try check(optional: \.optionalInt8, signed(Int8.self) + [(values: [], sum: 0)])
    try check(optional: \.optionalInt, signed(Int.self) + [(values: [], sum: 0)])
    try check(optional: \.optionalUInt16, table(UInt16.self))
    try check(optional: \.optionalUInt32, table(UInt32.self))
  }

  @Test func `a sum of floating-point numbers is infinite or NaN where Swift's is`() throws {
    let infinity = Double.infinity
    let reals: Values<Double> = [
      (values: Array(repeating: 1e308, count: 5), sum: infinity),
      (values: Array(repeating: -1e308, count: 5), sum: -infinity),
      (values: [infinity, 1], sum: infinity), (values: [infinity, -infinity], sum: .nan),
      (values: [.nan, 1], sum: .nan), (values: [.nan, .nan], sum: .nan),
      (values: [0.25, -0.5], sum: -0.25), (values: [-0.0], sum: 0),
    ]
    try check(\.double, reals)
    try check(optional: \.optionalDouble, reals + [(values: [], sum: 0)])
    let wide: Values<CGFloat> = reals.map {
      (values: $0.values.map { CGFloat($0) }, sum: $0.sum.map { CGFloat($0) })
    }
    try check(\.cgFloat, wide)
    let floats: Values<Float> = [
      (values: [3e38, 3e38], sum: .infinity), (values: [-3e38, -3e38], sum: -Float.infinity),
      (values: [3e38, 3e38, -3e38], sum: 3e38),
      (values: [.infinity, -Float.infinity], sum: .nan), (values: [.nan], sum: .nan),
      (values: [16_777_216, 1, 1], sum: 16_777_218),
    ]
    try check(\.float, floats)
    try check(optional: \.optionalFloat, floats + [(values: [], sum: 0)])
    let greatest = Decimal.greatestFiniteMagnitude
    let decimals: Values<Decimal> = [
      (values: [greatest, greatest], sum: nil), (values: [greatest], sum: greatest),
      (values: [.nan, greatest], sum: .nan),
    ]
    try check(\.decimal, decimals)
  }

  @Test func `the error of a sum names the property`() throws {
    let store = try ReadingStore(count: 2, pending: .none) { reading, _ in
      reading.int8 = .max
      reading.int = .max
      reading.uint64 = .max
    }
    func check<V: Numeric>(_ path: KeyPath<Reading, V>, _ name: String) {
      let error = #expect(throws: SwiftDataError.self) { try store.context.sum(of: path) }
      #expect(error?.message.hasPrefix("The sum of Reading.\(name) does not fit") == true)
    }
    check(\.int8, "int8")
    check(\.int, "int")
    check(\.uint64, "uint64")
  }

  @Test(arguments: PendingRows.allCases)
  func `the true sum of random integers decides`(_ pending: PendingRows) throws {
    for seed in UInt64(0)..<40 {
      var random = SplitMix(seed: seed)
      let values = (0..<Int.random(in: 2...12, using: &random)).map { _ in
        let shift = Int.random(in: 0...63, using: &random)
        return Int(truncatingIfNeeded: random.next()) >> shift
      }
      let store = try ReadingStore(count: values.count, pending: pending) {
        $0.int = values[$1]
      }
      let total = values.reduce(Int128(0)) { $0 + Int128($1) }
      let found = try? store.context.sum(of: \Reading.int)
      #expect(found == Int(exactly: total), "seed \(seed)")
      #expect(
        try store.context.average(of: \Reading.int) == Double(total) / Double(values.count),
        "seed \(seed)")
    }
  }

  // MARK: Averages and extremes

  @Test(arguments: PendingRows.allCases)
  func `averages and extremes don't depend on what is saved`(_ pending: PendingRows) throws {
    let doubles: [Double] = [.nan, 2, -Double.infinity, .infinity, 1.5]
    let decimals: [Decimal] = [.nan, 2, -3, 5, .nan]
    let store = try ReadingStore(count: doubles.count, pending: pending) {
      $0.double = doubles[$1]
      $0.optionalDouble = $1 < 2 ? .nan : nil
      $0.float = Float(doubles[$1])
      $0.date = Date(timeIntervalSinceReferenceDate: doubles[$1])
      $0.decimal = decimals[$1]
      $0.spot.lat = doubles[$1]
      $0.int8 = .max
    }
    let context = store.context
    #expect(try context.average(of: \Reading.double)?.isNaN == true)
    #expect(try context.average(of: \Reading.int8) == 127)
    #expect(try context.averages(of: \Reading.int8, by: \.group) == [0: 127])
    #expect(try context.minimum(of: \Reading.double) == -.infinity)
    #expect(try context.maximum(of: \Reading.double) == .infinity)
    #expect(try context.maximum(of: \Reading.optionalDouble) == nil)
    #expect(try context.maximum(of: \Reading.float) == .infinity)
    #expect(try context.minimum(of: \Reading.spot.lat) == -.infinity)
    #expect(try context.maximum(of: \Reading.spot.lat) == .infinity)
    let infinitelyLate = Date(timeIntervalSinceReferenceDate: .infinity)
    #expect(try context.maximum(of: \Reading.date) == infinitelyLate)
    #expect(try context.minimum(of: \Reading.decimal) == -3)
    #expect(try context.maximum(of: \Reading.decimal) == 5)
    #expect(try context.minimums(of: \Reading.decimal, by: \.group) == [0: -3])
  }

  @Test func `the average of infinities of both signs is NaN`() throws {
    for pending in PendingRows.allCases {
      let store = try ReadingStore(count: 4, pending: pending) {
        $0.double = $1.isMultiple(of: 2) ? .infinity : -.infinity
        $0.optionalDouble = 1e308
      }
      #expect(try store.context.average(of: \Reading.double)?.isNaN == true, "\(pending)")
      #expect(try store.context.average(of: \Reading.optionalDouble) == .infinity, "\(pending)")
    }
  }

  // MARK: Columns of other types

  @Test func `an aggregate over a column without numbers throws`() throws {
    let columns = [
      ("int8", "'abc'"), ("int8", "x'00'"), ("int8", "1.5"), ("double", "'abc'"),
      ("double", "x'00'"),
    ]
    for (column, value) in columns {
      let store = try ReadingStore(count: 3, pending: .none) { _, _ in }
      try store.execute("UPDATE Reading SET \(column) = \(value) WHERE place = 1")
      let context = ModelContext(store.container)
      let comment = Comment(rawValue: "\(column) = \(value)")
      if column == "int8" {
        #expect(throws: SwiftDataError.unreadableValue, comment) {
          try context.sum(of: \Reading.int8)
        }
        #expect(throws: SwiftDataError.unreadableValue, comment) {
          try context.average(of: \Reading.int8)
        }
      } else {
        #expect(throws: SwiftDataError.unreadableValue, comment) {
          try context.sum(of: \Reading.double)
        }
        #expect(throws: SwiftDataError.unreadableValue, comment) {
          try context.averages(of: \Reading.double, by: \.group)
        }
      }
    }
  }

  /// What an optional type does not hold was nil: a key of its own, or no value.
  @Test func `a number that an optional type lacks is unreadable`() throws {
    let store = try ReadingStore(count: 3, pending: .none) { $0.optionalInt8 = Int8($1) }
    try store.execute("UPDATE Reading SET optionalInt8 = 300 WHERE place = 1")
    let context = ModelContext(store.container)
    #expect(throws: SwiftDataError.unreadableValue) {
      try context.maximum(of: \Reading.optionalInt8)
    }
    #expect(throws: SwiftDataError.unreadableValue) { try context.distinct(\Reading.optionalInt8) }
    #expect(throws: SwiftDataError.unreadableValue) {
      try context.counts(of: Reading.self, by: \.optionalInt8)
    }
  }

  // MARK: Orders of an app's own

  /// SQL took the least and the greatest raw value.
  @Test(arguments: PendingRows.allCases)
  func `an enum with an order of its own has the extremes of that order`(
    _ pending: PendingRows
  ) throws {
    let grades: [Grade] = [.fair, .worst, .best, .absent, .fair]
    let store = try ReadingStore(count: grades.count, pending: pending) { $0.grade = grades[$1] }
    #expect(try store.context.minimum(of: \Reading.grade) == .absent)
    #expect(try store.context.maximum(of: \Reading.grade) == .best)
    #expect(try store.context.maximums(of: \Reading.grade, by: \.group) == [0: .best])
  }
}
