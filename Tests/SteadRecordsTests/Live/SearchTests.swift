import Foundation
import SwiftData
import Testing

@Suite struct SearchTests {
  private func filled() throws -> ModelContext {
    let container = try ModelContainer(
      for: Headline.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    context.insert(Headline(title: "Crème brûlée", body: "A pudding of cream and burnt sugar"))
    context.insert(Headline(title: "Sugar prices", body: "Sugar, sugar and more sugar"))
    context.insert(Headline(title: "Weather", body: "Rain"))
    try context.save()
    return context
  }

  @Test func `finds words without regard to case and diacritics`() throws {
    let found = try filled().search(Headline.self, for: "CREME brulee")
    #expect(found.map(\.model.title) == ["Crème brûlée"])
  }

  @Test func `ranks the better match first`() throws {
    let found = try filled().search(Headline.self, for: "sugar")
    #expect(found.map(\.model.title) == ["Sugar prices", "Crème brûlée"])
    #expect(found[0].rank < found[1].rank)
  }

  @Test func `shows a piece of the text with the match in brackets`() throws {
    let found = try filled().search(Headline.self, for: "rain")
    #expect(found.first?.snippet == "[Rain]")
  }

  @Test func `finds words by their beginning`() throws {
    let context = try filled()
    #expect(try context.search(Headline.self, for: "weath").isEmpty)
    #expect(try context.search(Headline.self, for: "weath*").count == 1)
    #expect(try context.search(Headline.self, for: "weath", matchesPrefix: true).count == 1)
  }

  @Test(arguments: ["\"", "*", "NEAR(", "b AND", "title:", "-", "(", "'; DROP TABLE Headline"])
  func `takes no word for an operator`(text: String) throws {
    #expect(try filled().search(Headline.self, for: text).isEmpty)
  }

  @Test func `follows changes and deletions`() throws {
    let context = try filled()
    let headline = try #require(try context.search(Headline.self, for: "rain").first?.model)
    headline.body = "Snow"
    try context.save()
    #expect(try context.search(Headline.self, for: "rain").isEmpty)
    #expect(try context.search(Headline.self, for: "snow").count == 1)
    context.delete(headline)
    try context.save()
    #expect(try context.search(Headline.self, for: "snow").isEmpty)
  }

  @Test func `refuses a model without text to search`() throws {
    let container = try ModelContainer(
      for: Unrelated.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    #expect(throws: SwiftDataError.unsupportedPredicate) {
      try ModelContext(container).search(Unrelated.self, for: "x")
    }
  }
}
