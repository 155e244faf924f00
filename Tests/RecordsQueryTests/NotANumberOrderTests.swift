import Foundation
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

/// In memory NaN was equal to every number. So with a pending change, or by a field of a struct, the other values came
/// in no order either, and a limit left out the wrong objects.
struct NotANumberOrderTests {
  /// The place of a value in an ascending order: nil, numbers, NaN.
  private static func key(_ value: Double?) -> (Int, Double) {
    guard let value else { return (0, 0) }
    return value.isNaN ? (2, 0) : (1, value)
  }

  private static func rows(
    _ readings: [Reading], _ order: SortOrder, _ value: (Reading) -> Double?
  ) -> [Int] {
    readings.sorted {
      let (left, right) = (key(value($0)), key(value($1)))
      if left == right { return $0.place < $1.place }
      return order == .forward ? left < right : right < left
    }.map(\.place)
  }

  /// Compares an order with that of the values as numbers, whole and in pages.
  private func check(
    _ store: ReadingStore, _ comment: Comment, _ value: (Reading) -> Double?,
    _ make: (SortOrder) -> SortDescriptor<Reading>,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for order in [SortOrder.forward, .reverse] {
      let expected = Self.rows(store.readings, order, value)
      var descriptor = FetchDescriptor(sortBy: [make(order), SortDescriptor(\Reading.place)])
      let all = try store.context.fetch(descriptor).map(\.place)
      #expect(all == expected, "\(comment), \(order)", sourceLocation: sourceLocation)
      let identifiers = try store.context.fetchIdentifiers(descriptor)
      let places = Dictionary(
        uniqueKeysWithValues: store.readings.map { ($0.persistentModelID, $0.place) })
      #expect(
        identifiers.map { places[$0] } == expected, "\(comment), \(order)",
        sourceLocation: sourceLocation)
      (descriptor.fetchLimit, descriptor.fetchOffset) = (3, 2)
      let page = try store.context.fetch(descriptor).map(\.place)
      #expect(
        page == Array(expected.dropFirst(2).prefix(3)), "\(comment), \(order)",
        sourceLocation: sourceLocation)
    }
  }

  private func checkAll(_ store: ReadingStore, _ comment: Comment) throws {
    try check(store, comment, { $0.double }) { SortDescriptor(\.double, order: $0) }
    try check(store, comment, { Double($0.float) }) { SortDescriptor(\.float, order: $0) }
    try check(store, comment, { Double($0.cgFloat) }) { SortDescriptor(\.cgFloat, order: $0) }
    try check(store, comment, { $0.optionalDouble }) { SortDescriptor(\.optionalDouble, order: $0) }
    try check(store, comment, { $0.optionalFloat.map { Double($0) } }) {
      SortDescriptor(\.optionalFloat, order: $0)
    }
    try check(store, comment, { $0.date.timeIntervalSinceReferenceDate }) {
      SortDescriptor(\.date, order: $0)
    }
    try check(store, comment, { $0.optionalDate?.timeIntervalSinceReferenceDate }) {
      SortDescriptor(\.optionalDate, order: $0)
    }
    try check(store, comment, { $0.spot.lat }) { SortDescriptor(\.spot.lat, order: $0) }
    try check(store, comment, { $0.spot.level.map { Double($0) } }) {
      SortDescriptor(\.spot.level, order: $0)
    }
    try check(store, comment, { $0.optionalSpot?.lat }) {
      SortDescriptor(\.optionalSpot?.lat, order: $0)
    }
    // `Decimal` orders its NaN first.
    try check(
      store, comment,
      { $0.decimal.isNaN ? -1e9 : NSDecimalNumber(decimal: $0.decimal).doubleValue }
    ) { SortDescriptor(\.decimal, order: $0) }
  }

  private func store(_ values: [Double?], _ pending: PendingRows) throws -> ReadingStore {
    try ReadingStore(count: values.count, pending: pending) { reading, index in
      let (optional, value) = (values[index], values[index] ?? 7)
      reading.double = value
      reading.float = Float(value)
      reading.cgFloat = CGFloat(value)
      reading.decimal = value.isNaN ? .nan : Decimal(Int(max(-99, min(99, value))))
      reading.date = Date(timeIntervalSinceReferenceDate: value)
      reading.optionalDouble = optional
      reading.optionalFloat = optional.map { Float($0) }
      reading.optionalDate = optional.map { Date(timeIntervalSinceReferenceDate: $0) }
      reading.spot = Spot(lat: value, level: optional.map { Float($0) })
      reading.optionalSpot = optional.map { Spot(lat: $0) }
    }
  }

  @Test(arguments: PendingRows.allCases)
  func `NaN is last, and all other values are in order`(_ pending: PendingRows) throws {
    let infinity = Double.infinity
    let values: [Double?] = [3, .nan, -infinity, 1, nil, -5, .nan, 2, infinity, nil, 0]
    try checkAll(try store(values, pending), "\(pending)")
  }

  @Test(arguments: PendingRows.allCases)
  func `random values are in one order`(_ pending: PendingRows) throws {
    let pool: [Double?] = [.nan, nil, .infinity, -Double.infinity, -0.0, 0, 1, -1, 2, 50, -50]
    for seed in UInt64(0)..<6 {
      var random = SplitMix(seed: seed)
      let values = (0..<24).map { _ in pool[Int.random(in: 0..<pool.count, using: &random)] }
      try checkAll(try store(values, pending), "\(pending), seed \(seed)")
    }
  }

  /// A type of the app's own whose values may be made of NaN.
  private struct Length: Comparable {
    var meters: Double
    static func < (left: Length, right: Length) -> Bool { left.meters < right.meters }
  }

  private struct Box {
    var length: Length
    var optional: Length?
  }

  @Test func `a value that does not equal itself is last, whatever its type`() {
    let boxes = [2, .nan, 1, .nan, 3].map { (meters: Double) in
      Box(length: Length(meters: meters), optional: meters == 1 ? nil : Length(meters: meters))
    }
    func lengths(_ descriptor: SortDescriptor<Box>) -> [String] {
      MemoryOrder([descriptor]).sorted(boxes).map { "\($0.length.meters)" }
    }
    #expect(lengths(SortDescriptor(\.length)) == ["1.0", "2.0", "3.0", "nan", "nan"])
    #expect(
      lengths(SortDescriptor(\.length, order: .reverse)) == ["nan", "nan", "3.0", "2.0", "1.0"])
    #expect(lengths(SortDescriptor(\.optional)) == ["1.0", "2.0", "3.0", "nan", "nan"])
    #expect(
      lengths(SortDescriptor(\.optional, order: .reverse)) == ["nan", "nan", "3.0", "2.0", "1.0"])
  }
}
