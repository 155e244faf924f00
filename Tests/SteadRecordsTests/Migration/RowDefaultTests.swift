import Foundation
import SteadTestSupport
import SwiftData
import Synchronization
import Testing

@testable import SteadRecords

private enum Stamped1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self, Base.self, Sub.self] }

  @Model final class Note {
    var text: String
    var token: UUID?
    init(_ text: String) { self.text = text }
  }

  @Model class Base {
    var text: String
    init(_ text: String) { self.text = text }
  }

  @Model final class Sub: Base {
    override init(_ text: String) { super.init(text) }
  }
}

private let counter = Mutex(0)

private func count() -> Int {
  counter.withLock {
    $0 += 1
    return $0
  }
}

private enum Stamped2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self, Base.self, Sub.self] }

  @Model final class Note {
    var text: String
    var token: UUID = UUID()
    var id: UUID = UUID()
    @Attribute(.unique) var key: String = UUID().uuidString
    var number: Int = count()
    var kind: String = "plain"
    var isDone: Bool = false
    var tags: [String] = []
    init(_ text: String) { self.text = text }
  }

  @Model class Base {
    var text: String
    var id: UUID = UUID()
    init(_ text: String) { self.text = text }
  }

  @Model final class Sub: Base {
    var code: UUID = UUID()
    var kind: String = "sub"
    override init(_ text: String) { super.init(text) }
  }
}

private enum StampedPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Stamped1.self, Stamped2.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: Stamped1.self, toVersion: Stamped2.self, willMigrate: nil,
        didMigrate: { context in
          for note in try context.fetch(FetchDescriptor<Stamped2.Note>()) { note.text += "!" }
        })
    ]
  }
}

/// Default values that existing rows get for a new property.
///
/// The expression was evaluated once, so `id: UUID = UUID()` gave all existing rows one identifier.
@Suite struct RowDefaultTests {
  private static let count = 1_500

  private func fill(_ url: URL) throws {
    let container = try ModelContainer(
      for: Schema(versionedSchema: Stamped1.self), configurations: ModelConfiguration(url: url))
    let context = ModelContext(container)
    for number in 0..<Self.count {
      let note = Stamped1.Note("note \(number)")
      context.insert(note)
      // Every third has a value.
      if number % 3 == 0 { note.token = UUID() }
    }
    for number in 0..<20 {
      context.insert(
        number % 2 == 0 ? Stamped1.Base("base \(number)") : Stamped1.Sub("sub \(number)"))
    }
    try context.save()
  }

  @Test(arguments: [false, true])
  func `each row gets its own value of an expression that gives another one each time`(
    hasPlan: Bool
  ) throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("stamped.store")
    try fill(url)
    var first: [String: UUID] = [:]
    for opening in 0..<2 {
      let container = try ModelContainer(
        for: Schema(versionedSchema: Stamped2.self),
        migrationPlan: hasPlan ? StampedPlan.self : nil,
        configurations: ModelConfiguration(url: url))
      let context = ModelContext(container)
      let notes = try context.fetch(FetchDescriptor<Stamped2.Note>())
      #expect(notes.count == Self.count)
      #expect(Set(notes.map(\.id)).count == Self.count)
      #expect(Set(notes.map(\.token)).count == Self.count)
      #expect(Set(notes.map(\.key)).count == Self.count)
      #expect(Set(notes.map(\.number)).count == Self.count)
      #expect(notes.allSatisfy { $0.kind == "plain" && !$0.isDone && $0.tags.isEmpty })
      let bases = try context.fetch(FetchDescriptor<Stamped2.Base>())
      #expect(Set(bases.map(\.id)).count == 20)
      let subs = try context.fetch(FetchDescriptor<Stamped2.Sub>())
      #expect(Set(subs.map(\.code)).count == 10 && subs.allSatisfy { $0.kind == "sub" })
      // A later opening changes none.
      let identifiers = Dictionary(uniqueKeysWithValues: notes.map { ($0.text, $0.id) })
      if opening == 0 { first = identifiers } else { #expect(identifiers == first) }
      #expect(try container.check().problems.isEmpty)
    }
  }
}
