import Foundation
import RecordsTestSupport
import SteadTestSupport
import SwiftData
import Synchronization
import Testing

@Suite("Forms that stores of an app's own have") struct CustomStoreFormTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func texts(_ configuration: NoteStore.Configuration) -> [String] {
    configuration.texts.all.withLock { $0.sorted { $0.key < $1.key }.map(\.value) }
  }

  @Test func `a snapshot may have fields of its own`() throws {
    let configuration = NoteStore.Configuration()
    let context = ModelContext(try ModelContainer(for: Note.self, configurations: configuration))
    let notes = ["one", "two", "three"].map { Note($0) }
    for note in notes { context.insert(note) }
    try context.save()
    #expect(texts(configuration).sorted() == ["one", "three", "two"])
    notes[0].text = "eins"
    context.delete(notes[1])
    try context.save()
    #expect(texts(configuration).sorted() == ["eins", "three"])
    let fresh = ModelContext(try ModelContainer(for: Note.self, configurations: configuration))
    #expect(try Set(fresh.fetch(FetchDescriptor<Note>()).map(\.text)) == ["eins", "three"])
    #expect(notes[0].persistentModelID.storeIdentifier == "notes")
  }

  @Test func `a store applies limit and offset`() throws {
    let context = ModelContext(
      try ModelContainer(for: Note.self, configurations: NoteStore.Configuration()))
    for text in ["one", "two", "three"] {
      context.insert(Note(text))
      try context.save()
    }
    var descriptor = FetchDescriptor<Note>()
    (descriptor.fetchOffset, descriptor.fetchLimit) = (1, 1)
    #expect(try context.fetch(descriptor).map(\.text) == ["two"])
    descriptor.fetchLimit = nil
    #expect(try context.fetch(descriptor).map(\.text) == ["two", "three"])
  }

  @Test func `a store may delete by itself`() throws {
    let configuration = NoteStore.Configuration()
    let context = ModelContext(try ModelContainer(for: Note.self, configurations: configuration))
    let notes = ["one", "two"].map { Note($0) }
    for note in notes { context.insert(note) }
    try context.save()
    try context.delete(model: Note.self, where: #Predicate { $0.text == "one" })
    #expect(texts(configuration) == ["two"])
    try context.delete(model: Note.self)
    #expect(texts(configuration).isEmpty)
    #expect(configuration.texts.calls.withLock { $0 } == ["open [\"Note\"]", "delete", "delete"])
    #expect(try context.fetchCount(FetchDescriptor<Note>()) == 0)
    #expect(notes.allSatisfy { $0.modelContext == nil })
  }

  @Test func `a store may stand beside others`() throws {
    let notes = NoteStore.Configuration("notes", for: Note.self)
    let file = ModelConfiguration(
      schema: Schema([Author.self, Book.self, Shelf.self]), url: directory.file("books.store"))
    let container = try ModelContainer(
      for: Schema([Author.self, Book.self, Shelf.self, Note.self]), configurations: [notes, file])
    #expect(notes.texts.calls.withLock { $0 } == ["open [\"Note\"]"])
    let context = ModelContext(container)
    let author = Author("Tove")
    author.books = [Book("A")]
    context.insert(author)
    context.insert(Note("n"))
    try context.save()
    #expect(texts(notes) == ["n"])
    let second = ModelContext(container)
    #expect(try second.fetch(FetchDescriptor<Book>()).first?.author?.name == "Tove")
    #expect(try second.fetch(FetchDescriptor<Note>()).map(\.text) == ["n"])
    #expect(container.configurations == [file])
  }

  @Test func `a configuration that is not valid is refused`() throws {
    #expect(throws: SwiftDataError.loadIssueModelContainer) {
      try ModelContainer(for: Note.self, configurations: NoteStore.Configuration(""))
    }
    #expect(throws: SwiftDataError.duplicateConfiguration) {
      try ModelContainer(
        for: Note.self, Author.self,
        configurations: NoteStore.Configuration("a", for: Note.self),
        NoteStore.Configuration("a", for: Author.self))
    }
  }

  // MARK: The default store

  private func forwarding() throws -> ModelContainer {
    try ModelContainer(
      for: Author.self, Book.self, Shelf.self, Note.self,
      configurations: ForwardingStore.Configuration(url: directory.file("forwarded.store")))
  }

  @Test func `the default store can be used by itself`() throws {
    let context = ModelContext(try forwarding())
    let author = Author("Tove")
    author.books = [Book("A", pages: 1), Book("B", pages: 2)]
    context.insert(author)
    context.insert(Note("n"))
    try context.save()
    author.books.reverse()
    author.name = "Tuulikki"
    try context.save()
    let second = ModelContext(try forwarding())
    let found = try second.fetch(
      FetchDescriptor<Author>(predicate: #Predicate { $0.name == "Tuulikki" }))
    #expect(found.first?.books.map(\.title) == ["B", "A"])
    #expect(try second.fetchCount(FetchDescriptor<Book>()) == 2)
    let sorted = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.pages, order: .reverse)])
    #expect(try second.fetch(sorted).map(\.title) == ["B", "A"])
    #expect(try second.fetchIdentifiers(sorted).count == 2)
    try second.delete(model: Note.self)
    #expect(try second.fetchCount(FetchDescriptor<Note>()) == 0)
    for book in try second.fetch(sorted).prefix(1) { second.delete(book) }
    try second.save()
    let file = try ModelContainer(
      for: Author.self, Book.self, Shelf.self, Note.self,
      configurations: ModelConfiguration(url: directory.file("forwarded.store")))
    let books = try ModelContext(file).fetch(FetchDescriptor<Book>())
    #expect(books.map(\.title) == ["A"])
    #expect(books.first?.author?.name == "Tuulikki")
  }

  @Test func `a store's history is the context's`() throws {
    let context = ModelContext(try forwarding())
    let saved = Mutex<[String: DefaultHistoryToken]>([:])
    let observer = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave, object: context, queue: nil
    ) { note in saved.withLock { $0 = note.historyTokens } }
    defer { NotificationCenter.default.removeObserver(observer) }
    context.author = "importer"
    context.insert(Note("n"))
    try context.save()
    let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(history.last?.author == "importer")
    #expect(history.last?.token == saved.withLock { $0.values.first })
    try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).isEmpty)
  }
}
