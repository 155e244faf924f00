import Foundation
import SwiftData
import Testing

@Suite("A context over a store of the app's own") struct CustomStoreTests {
  private let content = DictionaryStore.Content()

  private func container() throws -> ModelContainer {
    try ModelContainer(
      for: Author.self, Book.self, Shelf.self, Note.self,
      configurations: DictionaryStore.Configuration(content))
  }

  @Test func whatOneContextSavesAnotherFetches() throws {
    let container = try container()
    let context = ModelContext(container)
    let author = Author("Tove")
    author.books = [Book("Moomin", pages: 12), Book("Summer", pages: 3)]
    context.insert(author)
    try context.save()
    #expect(content.snapshots.count == 3)
    for container in [container, try self.container()] {
      let second = ModelContext(container)
      let found = try second.fetch(FetchDescriptor<Author>())
      #expect(found.map(\.name) == ["Tove"])
      #expect(found.first?.books.map(\.title) == ["Moomin", "Summer"])
      #expect(found.first?.books.first?.author === found.first)
      #expect(found.first?.persistentModelID == author.persistentModelID)
    }
  }
}
