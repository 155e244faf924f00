import Foundation
import SwiftData
import Testing

@testable import SteadRecords

/// What queries cost: the SQL leaves indexes their use, and making it takes microseconds.
struct QueryPlanTests {
  private func sql(_ predicate: Predicate<Sample>) throws -> String {
    let layout = try StoreLayout(schema: Schema([Sample.self, Label.self]))
    let entity = try #require(layout.entity(for: Sample.self))
    let query = try QueryTranslator(layout: layout).translate(
      predicate: predicate, sortBy: [], entity: entity)
    return try #require(query.condition).sql
  }

  @Test func `plain comparisons stay plain`() throws {
    let (number, text) = (5, "abc")
    #expect(
      try sql(#Predicate { $0.number == number && $0.text == text })
        == #"(t0."number" = ? AND t0."text" = ?)"#)
    #expect(try sql(#Predicate { $0.optionalNumber == number }) == #"t0."optionalNumber" = ?"#)
    #expect(try sql(#Predicate { $0.optionalNumber != number }) == #"t0."optionalNumber" IS NOT ?"#)
    #expect(
      try sql(#Predicate { $0.flag && $0.number < 5 }) == #"(t0."flag" = 1 AND t0."number" < ?)"#)
    #expect(try sql(#Predicate { $0.text == "Kiosk" }) == #"t0."text" IN (?, ?)"#)
    #expect(
      try sql(#Predicate { $0.text == "caf\u{E9}" }) == #"t0."text" = ? COLLATE stead_canonical"#)
    #expect(
      try sql(#Predicate { $0.text.hasPrefix("ab") })
        == #"(t0."text" >= ? AND t0."text" < ? AND stead_has_prefix(t0."text", ?))"#)
    #expect(
      try sql(#Predicate { $0.parent?.number == number })
        == #"t0."parent" IN (SELECT r."_id" FROM "Sample" AS r WHERE r."number" = ?)"#)
  }

  @Test func `collections bind one parameter`() throws {
    let one = [1]
    let many = Array(0..<10_000)
    #expect(
      try sql(#Predicate { one.contains($0.number) })
        == sql(#Predicate { many.contains($0.number) }))
  }

  @Test func `leaves only what SQL cannot say to memory`() throws {
    #expect(
      try sql(#Predicate { $0.shout == "A" && $0.number == 1 }) == #"t0."number" = ?"#)
  }
}
