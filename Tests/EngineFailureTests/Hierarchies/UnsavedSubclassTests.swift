import Foundation
import RecordsTestSupport
import SteadTestSupport
import SwiftData
import Testing

@Model class Barge {
  var number = 0
  var tug: Barge?
  @Relationship(inverse: \Barge.tug) var towed: [Barge] = []

  init(_ number: Int) { self.number = number }
}

@Model final class DeckBarge: Barge {
  var decks = 0

  override init(_ number: Int) { super.init(number) }
}

/// An object without a row had the identifier of the class by which a variable knew it. So fetches of the superclass did
/// not find an unsaved object of a subclass, or what led to it, and did not say so.
@Suite("Unsaved objects of subclasses") struct UnsavedSubclassTests {
  /// A vessel that a captured one tows, and one that none tows.
  private struct Scene {
    let store: TestStore
    let context: ModelContext
    let tug: Barge
    let towed: Barge
    let free: Barge

    /// - Parameters:
    ///   - isDeckBarge: Whether the tug is of the subclass.
    ///   - isSaved: Whether it was saved.
    ///   - isInserted: Whether it is in the context at all.
    init(isDeckBarge: Bool, isSaved: Bool, isInserted: Bool = true) throws {
      store = try TestStore(.memory, Barge.self, DeckBarge.self)
      context = store.context()
      tug = isDeckBarge ? DeckBarge(1) : Barge(1)
      (towed, free) = (Barge(2), DeckBarge(3))
      if isInserted { context.insertAll(tug, towed, free) }
      if isSaved { try context.save() }
      if isInserted { towed.tug = tug }
    }

    func numbers(_ predicate: Predicate<Barge>) throws -> [Int] {
      try context.fetch(FetchDescriptor(predicate: predicate)).map(\.number).sorted()
    }
  }

  @Test(arguments: [false, true], [false, true])
  func `an object has one identifier, whatever class it is known by`(
    isDeckBarge: Bool, isSaved: Bool
  ) throws {
    let scene = try Scene(isDeckBarge: isDeckBarge, isSaved: isSaved)
    let name = isDeckBarge ? "DeckBarge" : "Barge"
    #expect(scene.tug.persistentModelID.entityName == name)
    #expect(scene.tug.id == scene.tug.persistentModelID)
    let any: any PersistentModel = scene.tug
    #expect(any.persistentModelID == scene.tug.persistentModelID)
    if let deckBarge = scene.tug as? DeckBarge {
      #expect(deckBarge.persistentModelID == scene.tug.persistentModelID)
      #expect(deckBarge.id == scene.tug.id && deckBarge.hashValue == scene.tug.hashValue)
    }
    if !isSaved {
      #expect(
        Set(scene.context.insertedModelsArray.map(\.persistentModelID))
          == [
            scene.tug.persistentModelID, scene.towed.persistentModelID,
            scene.free.persistentModelID,
          ])
    }
    #expect(
      try Set(scene.context.fetchIdentifiers(FetchDescriptor<Barge>()))
        == [
          scene.tug.persistentModelID, scene.towed.persistentModelID, scene.free.persistentModelID,
        ])
    let found: Barge? = scene.context.registeredModel(for: scene.tug.persistentModelID)
    #expect(found === scene.tug)
  }

  // The identifier is there before the object has a context, and must stay until the save.
  @Test func `an object outside a context has the identifier of its class`() throws {
    let scene = try Scene(isDeckBarge: true, isSaved: false, isInserted: false)
    let before = scene.tug.persistentModelID
    #expect(before.entityName == "DeckBarge")
    scene.context.insert(scene.tug)
    #expect(scene.tug.persistentModelID == before)
    #expect((scene.tug as? DeckBarge)?.persistentModelID == before)
  }

  @Test(arguments: [false, true], [false, true])
  func `predicates find it and what leads to it`(isDeckBarge: Bool, isSaved: Bool) throws {
    let scene = try Scene(isDeckBarge: isDeckBarge, isSaved: isSaved)
    let (tug, list) = (scene.tug, [scene.tug])
    let id = (tug as? DeckBarge)?.persistentModelID ?? tug.persistentModelID
    let ids = [id]
    #expect(try scene.numbers(#Predicate { $0.tug == tug }) == [2])
    #expect(try scene.numbers(#Predicate { $0.tug != tug }) == [1, 3])
    #expect(try scene.numbers(#Predicate { $0 == tug }) == [1])
    #expect(try scene.numbers(#Predicate { list.contains($0) }) == [1])
    #expect(try scene.numbers(#Predicate { $0.persistentModelID == id }) == [1])
    #expect(try scene.numbers(#Predicate { ids.contains($0.persistentModelID) }) == [1])
    #expect(try scene.numbers(#Predicate { !ids.contains($0.persistentModelID) }) == [2, 3])
    #expect(try #Predicate<Barge> { $0.tug == tug }.evaluate(scene.towed))
    #expect(try #Predicate<Barge> { $0.persistentModelID == id }.evaluate(tug))
    guard isDeckBarge else { return }
    let known = tug.persistentModelID
    let found = try scene.context.fetch(
      FetchDescriptor<DeckBarge>(predicate: #Predicate { $0.persistentModelID == known }))
    #expect(found.map(\.number) == [1])
  }
}
