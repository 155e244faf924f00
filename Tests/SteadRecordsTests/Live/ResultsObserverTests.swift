import Foundation
import Observation
import SwiftData
import Synchronization
import Testing

@MainActor @Suite struct ResultsObserverTests {
  private let store: StoreFile
  private let container: ModelContainer

  init() throws {
    store = try StoreFile()
    container = try store.open(Headline.self, Unrelated.self)
  }

  private func byTitle() -> FetchDescriptor<Headline> {
    FetchDescriptor(sortBy: [SortDescriptor(\.title)])
  }

  @Test func `sees what its context saves`() throws {
    let context = ModelContext(container)
    let observer = ResultsObserver(fetchDescriptor: byTitle(), modelContext: context)
    #expect(observer.results.isEmpty)
    context.insert(Headline(title: "b"))
    context.insert(Headline(title: "a"))
    try context.save()
    #expect(observer.results.map(\.title) == ["a", "b"])
  }

  enum Return: CaseIterable { case insertion, deletion, change, undoneInsertion, undoneDeletion }

  /// What had been shown before, and was then discarded or undone without a further change, stayed.
  @Test(arguments: Return.allCases)
  func `sees that pending changes are gone again`(_ way: Return) throws {
    let context = ModelContext(container)
    let manager = UndoManager()
    let kept = Headline(title: "m")
    context.insert(kept)
    try context.save()
    context.undoManager = manager
    let observer = ResultsObserver(fetchDescriptor: byTitle(), modelContext: context)
    switch way {
    case .insertion, .undoneInsertion: context.insert(Headline(title: "a"))
    case .deletion, .undoneDeletion: context.delete(kept)
    case .change: kept.title = "z"
    }
    context.processPendingChanges()
    #expect(observer.results.map(\.title) != ["m"])
    if way == .undoneInsertion || way == .undoneDeletion {
      manager.undo()
      context.processPendingChanges()
    } else {
      context.rollback()
    }
    #expect(observer.results.map(\.title) == ["m"])
  }

  @Test func `tells Observation when the results change`() throws {
    let context = ModelContext(container)
    let observer = ResultsObserver(fetchDescriptor: byTitle(), modelContext: context)
    let changes = Mutex(0)
    withObservationTracking {
      _ = observer.results
    } onChange: {
      changes.withLock { $0 += 1 }
    }
    context.insert(Unrelated(number: 1))
    try context.save()
    #expect(changes.withLock { $0 } == 0)
    context.insert(Headline(title: "a"))
    try context.save()
    #expect(changes.withLock { $0 } == 1)
  }

  /// What was saved while results were being told of another save was told to nobody.
  @Test func `sees what an observer of other results saves`() throws {
    let context = ModelContext(container)
    let headlines = ResultsObserver(fetchDescriptor: byTitle(), modelContext: context)
    let others = ResultsObserver(
      fetchDescriptor: FetchDescriptor<Unrelated>(), modelContext: context)
    let failure = Mutex<String?>(nil)
    // Unsafe: the closure is Sendable, and is called by the save below alone, on this thread.
    nonisolated(unsafe) let saved = context
    withObservationTracking {
      _ = headlines.results
    } onChange: {
      saved.insert(Unrelated(number: 1))
      do { try saved.save() } catch { failure.withLock { $0 = "\(error)" } }
    }
    context.insert(Headline(title: "a"))
    try context.save()
    #expect(failure.withLock { $0 } == nil)
    #expect(headlines.results.map(\.title) == ["a"])
    #expect(others.results.map(\.number) == [1])
  }

  @Test func `groups results into sections`() throws {
    let context = ModelContext(container)
    for (title, topic) in [("a", "x"), ("b", "y"), ("c", "x")] {
      context.insert(Headline(title: title, topic: topic))
    }
    try context.save()
    let observer = ResultsObserver(
      fetchDescriptor: byTitle(), sectionBy: \Headline.topic, modelContext: context)
    #expect(observer.sections.sectionTitles == ["x", "y"])
    #expect(observer.sections[sectionTitle: "x"]?.map(\.title) == ["a", "c"])
    #expect(observer.sections.index(ofSectionTitled: "y") == 1)
    #expect(observer.sections.first?.title == "x")
    #expect(observer.element(at: IndexPath(indexes: [0, 1]))?.title == "c")
    let last = try #require(observer.results.last)
    #expect(observer.indexPath(for: last) == IndexPath(indexes: [0, 1]))
    observer.sectionBy = \Headline.title
    #expect(observer.sections.sectionNames == ["a", "b", "c"])
  }

  @Test func `new filters and orders fetch anew`() throws {
    let context = ModelContext(container)
    for words in 1...4 { context.insert(Headline(title: "\(words)", words: words)) }
    try context.save()
    let observer = ResultsObserver(fetchDescriptor: byTitle(), modelContext: context)
    observer.filterBy = #Predicate<Headline> { $0.words > 2 }
    observer.sortBy = [SortDescriptor(\.words, order: .reverse)]
    #expect(observer.results.map(\.words) == [4, 3])
  }

  @Test(.hangLimit) func `another context's commit arrives by itself`() async throws {
    let context = container.mainContext
    var results = context.updates(of: byTitle()).makeAsyncIterator()
    let before = await results.next(isolation: #isolation)
    #expect(before?.isEmpty == true)
    let background = Task.detached { [container] in
      let context = ModelContext(container)
      context.insert(Headline(title: "from elsewhere"))
      try context.save()
    }
    try await background.value
    let after = await results.next(isolation: #isolation)
    #expect(after?.map(\.title) == ["from elsewhere"])
  }

  @Test(.hangLimit) func `another process's commit arrives by itself`() async throws {
    let context = container.mainContext
    var results = context.updates(of: byTitle()).makeAsyncIterator()
    let before = await results.next(isolation: #isolation)
    #expect(before?.isEmpty == true)
    try ToolRun.text([
      "sqlite3", store.url.filePath,
      "INSERT INTO Headline (title, body, topic, words) VALUES ('by sqlite3', '', '', 1)",
    ])
    let after = await results.next(isolation: #isolation)
    #expect(after?.map(\.title) == ["by sqlite3"])
  }

  @Test func `Query works in any class`() throws {
    let context = container.mainContext
    context.insert(Headline(title: "b", words: 1))
    context.insert(Headline(title: "a", words: 9))
    try context.save()
    let screen = Screen(context: context)
    #expect(screen.all.map(\.title) == ["a", "b"])
    #expect(screen.long.map(\.title) == ["a"])
    context.insert(Headline(title: "c", words: 8))
    try context.save()
    #expect(screen.long.map(\.title) == ["a", "c"])
  }

  /// It named the container opened last, and showed the results of another. In a process of its own, where no other
  /// test opens one.
  @Test(.exitTests) func `a Query keeps the context of its first read`() async {
    await #expect(processExitsWith: .success) {
      try await MainActor.run {
        let query = Query<Headline>()
        #expect(query.modelContext == nil && query.fetchError == nil && query.wrappedValue.isEmpty)
        let (store, other) = (try StoreFile(), try StoreFile())
        let first = try store.open(Headline.self, Unrelated.self)
        first.mainContext.insert(Headline(title: "first", words: 1))
        #expect(query.wrappedValue.map(\.title) == ["first"])
        let second = try other.open(Headline.self, Unrelated.self)
        #expect(query.modelContext === first.mainContext)
        #expect(query.wrappedValue.map(\.title) == ["first"])
        query.modelContext = second.mainContext
        #expect(query.modelContext === second.mainContext && query.wrappedValue.isEmpty)
      }
    }
  }

  @MainActor private final class Screen {
    @Query(sort: \Headline.title) var all: [Headline]
    @Query(filter: #Predicate<Headline> { $0.words > 5 }, sort: \.title) var long: [Headline]

    init(context: ModelContext) {
      $all.modelContext = context
      $long.modelContext = context
    }
  }
}
