import Foundation
import SteadTestSupport
import SwiftData
import Testing

/// The main context and its container end when nobody holds either.
@MainActor @Suite struct MainContextTests {
  private let store: StoreFile

  init() throws { store = try StoreFile() }

  private func open() throws -> ModelContainer { try store.open(Headline.self) }

  /// How many of this process's open files are the store's.
  private var openFileCount: Int {
    let directory = store.url.deletingLastPathComponent().path
    let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return files.count { file in
      let target = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/fd/\(file)")
      return target?.hasPrefix(directory) == true
    }
  }

  /// Whether the store's files are closed, within the turn: at once, or when a thread is done that looks for other
  /// programs' commits at this moment, and holds the store as long.
  private var isClosed: Bool {
    for _ in 0..<20_000 where openFileCount > 0 { sched_yield() }
    return openFileCount == 0
  }

  /// They held each other, so that each test of a program left its stores open.
  @Test func `a container ends whose main context was used`() throws {
    weak var released: ModelContainer?
    weak var releasedContext: ModelContext?
    do {
      let container = try open()
      container.mainContext.insert(Headline(title: "a"))
      try container.mainContext.save()
      #expect(openFileCount > 0)
      (released, releasedContext) = (container, container.mainContext)
    }
    #expect(released == nil)
    #expect(releasedContext == nil)
    #expect(isClosed)
  }

  @Test func `many containers of one turn leave no file open`() throws {
    for number in 0..<50 {
      let container = try open()
      let context = container.mainContext
      if number.isMultiple(of: 2) { context.insert(Headline(title: "\(number)")) }
      if number.isMultiple(of: 3) { context.autosaveEnabled = false }
      if number.isMultiple(of: 5) {
        context.rollback()
      } else if number.isMultiple(of: 2) {
        try context.save()
      }
    }
    #expect(isClosed)
  }

  @Test(.hangLimit) func `a container ends that another thread releases`() async throws {
    weak var releasedContext: ModelContext?
    var container: ModelContainer? = try open()
    container?.mainContext.insert(Headline(title: "a"))
    try container?.mainContext.save()
    releasedContext = container?.mainContext
    let last = Last(container)
    container = nil
    await Task.detached { last.release() }.value
    while releasedContext != nil { await Task.yield() }
    #expect(isClosed)
  }

  @Test func `a main context works without its container`() throws {
    let context = try open().mainContext
    context.insert(Headline(title: "a"))
    try context.save()
    let container = context.container
    #expect(container === context.container)
    #expect(container.mainContext === context)
    #expect(container.schema.entities.map(\.name) == ["Headline"])
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Headline>()) == 1)
  }

  @Test func `other contexts hold the container`() throws {
    let context = ModelContext(try open())
    weak let container = context.container
    #expect(container != nil)
    #expect(container?.mainContext === context.container.mainContext)
  }

  @Test(.hangLimit) func `a turn saves what is unsaved when the container goes`() async throws {
    weak var released: ModelContext?
    do {
      let container = try open()
      container.mainContext.insert(Headline(title: "a"))
      released = container.mainContext
    }
    #expect(released != nil)
    while released != nil { await Task.yield() }
    #expect(try ModelContext(open()).fetchCount(FetchDescriptor<Headline>()) == 1)
  }

  @Test(.hangLimit) func `objects outlive their main context`() async throws {
    let headline = Headline(title: "a")
    weak var released: ModelContext?
    do {
      let container = try open()
      container.mainContext.insert(headline)
      try container.mainContext.save()
      released = container.mainContext
    }
    while released != nil { await Task.yield() }
    #expect(headline.title == "a")
    headline.title = "b"
    #expect(headline.title == "b")
  }

  /// The last reference to a container.
  // Sendable: used by one thread after the other.
  private final class Last: @unchecked Sendable {
    private var container: ModelContainer?
    init(_ container: ModelContainer?) { self.container = container }
    func release() { container = nil }
  }
}
