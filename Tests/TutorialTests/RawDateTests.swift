import Foundation
import SwiftData
import Testing

// As apps have it that keep dates with `@AppStorage`, which takes raw values of strings.
extension Date: @retroactive RawRepresentable {
  public var rawValue: String { timeIntervalSinceReferenceDate.description }

  public init?(rawValue: String) {
    guard let seconds = Double(rawValue) else { return nil }
    self.init(timeIntervalSinceReferenceDate: seconds)
  }
}

@Model final class Visit {
  var came: Date
  var left: Date?
  var noted = Date.distantPast

  init(came: Date, left: Date? = nil) {
    self.came = came
    self.left = left
  }
}

/// A public app, Tiv-Bible, gave `Date` a raw value for its preferences. Two ways to store a date were equally good then,
/// and no model with a date compiled.
@Suite struct RawDateTests {
  private let noon = Date(timeIntervalSinceReferenceDate: 43_200.5)

  @Test func `keeps a date as a date where it has a raw value`() throws {
    let container = try ModelContainer(
      for: Visit.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    context.insert(Visit(came: noon, left: noon + 60))
    try context.save()

    let other = ModelContext(container)
    let (noon, later) = (noon, noon + 1)
    let found = try other.fetch(
      FetchDescriptor<Visit>(
        predicate: #Predicate { $0.came == noon && ($0.left ?? noon) > later && $0.noted < noon },
        sortBy: [SortDescriptor(\.left), SortDescriptor(\.came)]))
    #expect(found.map(\.left) == [noon + 60])
    let type = container.schema.entitiesByName["Visit"]?.attributesByName["came"]?.valueType
    #expect(type == Date.self)
  }

  @Test func `compares it in the store`() throws {
    let context = ModelContext(
      try ModelContainer(
        for: Visit.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    let noon = noon
    let sql = try context.sql(
      for: FetchDescriptor<Visit>(predicate: #Predicate { $0.came > noon }))
    #expect(sql.contains("\"came\" >"))
  }
}
