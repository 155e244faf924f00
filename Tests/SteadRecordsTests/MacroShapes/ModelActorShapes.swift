import Foundation
import SwiftData
import Testing

@Model final class NoteShape {
  var text: String
  init(text: String) { self.text = text }
}

@ModelActor actor PlainWorker {
  var added = 0
  private var last: PersistentIdentifier?

  func add(_ text: String) throws -> PersistentIdentifier {
    let note = NoteShape(text: text)
    modelContext.insert(note)
    try modelContext.save()
    added += 1
    last = note.persistentModelID
    return note.persistentModelID
  }

  func text(of id: PersistentIdentifier) -> String? { self[id, as: NoteShape.self]?.text }
}

@ModelActor public actor PublicWorker {
  public func count() throws -> Int { try modelContext.fetchCount(FetchDescriptor<NoteShape>()) }
}

@ModelActor actor OwnInitializerWorker {
  let label: String

  init(label: String, modelContainer: ModelContainer) {
    self.label = label
    self.modelContainer = modelContainer
    let context = ModelContext(modelContainer)
    modelExecutor = DefaultSerialModelExecutor(modelContext: context)
  }
}

/// Actors with a context of their own.
@Suite struct ModelActorShapes {
  private func makeContainer() throws -> ModelContainer {
    try ModelContainer(
      for: NoteShape.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  @Test func `an actor saves and finds its models`() async throws {
    let container = try makeContainer()
    let worker = PlainWorker(modelContainer: container)
    let id = try await worker.add("note")
    #expect(await worker.text(of: id) == "note")
    #expect(await worker.added == 1)
    #expect(worker.modelContainer == container)
    #expect(try await PublicWorker(modelContainer: container).count() == 1)
  }

  @Test func `an actor may have its own initializer`() async throws {
    let worker = OwnInitializerWorker(label: "own", modelContainer: try makeContainer())
    #expect(worker.label == "own")
  }
}
