import Foundation
import SwiftData
import Testing

@Suite("Models with rules, in a store of the app's own") struct CustomStoreModelTests {
  private let content = DictionaryStore.Content()

  private func context() throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Tag.self, Animal.self, Dog.self,
        configurations: DictionaryStore.Configuration(content)))
  }

  @Test func `unique values are looked for in the store`() throws {
    let first = try context()
    let old = Tag("a", count: 1)
    first.insert(old)
    try first.save()
    let second = try context()
    let new = Tag("a", count: 2)
    second.insert(new)
    try second.save()
    #expect(content.snapshots.count == 1)
    #expect(content.calls.last == "save 0 1 0")
    #expect(new.persistentModelID == old.persistentModelID)
    #expect(try first.fetch(FetchDescriptor<Tag>()).map(\.count) == [2])
  }

  @Test func `a fetch of a class gives objects of its subclasses`() throws {
    let first = try context()
    first.insert(Animal("Tom"))
    first.insert(Dog("Rex", tricks: 3))
    try first.save()
    let second = try context()
    let byName = FetchDescriptor<Animal>(sortBy: [SortDescriptor(\.name)])
    let found = try second.fetch(byName)
    #expect(found.map(\.name) == ["Rex", "Tom"])
    #expect((found.first as? Dog)?.tricks == 3)
    let clever = FetchDescriptor<Dog>(predicate: #Predicate { $0.tricks > 1 })
    #expect(try second.fetch(clever).first === found.first)
    #expect(try second.fetchCount(FetchDescriptor<Animal>()) == 2)
    #expect(try second.fetchIdentifiers(FetchDescriptor<Dog>()).count == 1)
  }

  @Test func `one key for two objects of a hierarchy is refused`() throws {
    let first = try context()
    first.insert(Animal("Tom"))
    first.insert(Dog("Rex", tricks: 3))
    try first.save()
    try content.state.withLock { state in
      state.snapshots = try state.snapshots.map {
        $0.copy(
          persistentIdentifier: try .identifier(
            for: "dictionary", entityName: $0.persistentIdentifier.entityName, primaryKey: 7),
          remappedIdentifiers: nil)
      }
    }
    let second = try context()
    #expect(throws: SwiftDataError.unreadableValue) {
      try second.fetch(FetchDescriptor<Animal>())
    }
  }

  @Test func `a store that cannot erase says so`() throws {
    let container = try ModelContainer(
      for: Note.self, configurations: NoteStore.Configuration())
    #expect(throws: DataStoreError.unsupportedFeature) { try container.erase() }
  }

  @Test func `threads take turns`() throws {
    let container = try context().container
    let first = ModelContext(container)
    let counter = Tag("counter", count: 0)
    first.insert(counter)
    try first.save()
    let identifier = counter.persistentModelID
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      let context = ModelContext(container)
      for turn in 0..<5 {
        context.insert(Animal("\(thread).\(turn)"))
        #expect(throws: Never.self) {
          try context.transaction {
            (context.model(for: identifier) as? Tag)?.count += 1
          }
        }
      }
    }
    #expect(try first.fetch(FetchDescriptor<Tag>()).map(\.count) == [40])
    #expect(try first.fetchCount(FetchDescriptor<Animal>()) == 40)
    #expect(content.snapshots.count == 41)
  }
}
