import Foundation
import Observation
import SwiftData
import Testing

@Suite("undo") struct UndoTests {
  private func context(_ place: StorePlace) throws -> (TestStore, ModelContext, UndoManager) {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let undoManager = UndoManager()
    context.undoManager = undoManager
    return (store, context, undoManager)
  }

  @Test(arguments: StorePlace.allCases)
  func `S8 a property's change is undone and done again`(_ place: StorePlace) throws {
    let (store, context, undoManager) = try context(place)
    let ann = Member(name: "Ann")
    context.insert(ann)
    try context.save()
    context.processPendingChanges()
    ann.name = "Anna"
    ann.age = 31
    context.processPendingChanges()
    ann.name = "Annette"
    undoManager.undo()
    #expect(ann.name == "Anna")
    undoManager.undo()
    #expect(ann.name == "Ann")
    #expect(ann.age == 30)
    undoManager.redo()
    #expect(ann.name == "Anna")
    #expect(ann.age == 31)
    undoManager.redo()
    #expect(ann.name == "Annette")
    undoManager.undo()
    try context.save()
    #expect(try store.reopened().only(Member.self).name == "Anna")
  }

  @Test(arguments: StorePlace.allCases)
  func `S8 insertion and deletion are undone and done again`(_ place: StorePlace) throws {
    let (store, context, undoManager) = try context(place)
    let ann = Member(name: "Ann")
    context.insert(ann)
    context.processPendingChanges()
    undoManager.undo()
    #expect(try context.count(Member.self) == 0)
    undoManager.redo()
    #expect(try context.count(Member.self) == 1)
    try context.save()
    context.processPendingChanges()
    context.delete(ann)
    context.processPendingChanges()
    #expect(try context.count(Member.self) == 0)
    undoManager.undo()
    #expect(try context.only(Member.self).name == "Ann")
    try context.save()
    #expect(try store.reopened().count(Member.self) == 1)
    undoManager.redo()
    #expect(try context.count(Member.self) == 0)
    try context.save()
    #expect(try store.reopened().count(Member.self) == 0)
  }

  @Test(arguments: StorePlace.allCases)
  func `S8 a saved deletion is undone`(_ place: StorePlace) throws {
    let (store, context, undoManager) = try context(place)
    let club = Club(name: "Chess")
    let ann = Member(name: "Ann", club: club)
    context.insert(ann)
    try context.save()
    context.processPendingChanges()
    context.delete(ann)
    try context.save()
    context.processPendingChanges()
    undoManager.undo()
    try context.save()
    let stored = try store.reopened().only(Member.self)
    #expect(stored.name == "Ann")
    #expect(stored.club?.name == "Chess")
  }

  @Test(arguments: StorePlace.allCases)
  func `S8 relationships are undone on both sides`(_ place: StorePlace) throws {
    let (store, context, undoManager) = try context(place)
    let (chess, go) = (Club(name: "Chess"), Club(name: "Go"))
    let ann = Member(name: "Ann", club: chess)
    context.insert(ann)
    context.insert(go)
    try context.save()
    context.processPendingChanges()
    ann.club = go
    context.processPendingChanges()
    undoManager.undo()
    #expect(ann.club === chess)
    #expect(chess.members.first === ann)
    #expect(go.members.isEmpty)
    undoManager.redo()
    #expect(ann.club === go)
    #expect(chess.members.isEmpty)
    context.processPendingChanges()
    let skill = Skill(title: "endings")
    context.insert(skill)
    context.processPendingChanges()
    ann.skills.append(skill)
    context.processPendingChanges()
    undoManager.undo()
    #expect(ann.skills.isEmpty)
    #expect(skill.holders.isEmpty)
    try context.save()
    #expect(try store.reopened().only(Skill.self).holders.isEmpty)
    #expect(try store.reopened().only(Member.self).club?.name == "Go")
  }

  @Test(arguments: StorePlace.allCases)
  func `S8 a cascade is undone as a whole`(_ place: StorePlace) throws {
    let store = try TestStore.folders(place)
    let context = store.context()
    let undoManager = UndoManager()
    let root = Folder(name: "root", children: [Folder(name: "a"), Folder(name: "b")])
    context.insert(root)
    try context.save()
    context.undoManager = undoManager
    context.delete(root)
    context.processPendingChanges()
    #expect(try context.count(Folder.self) == 0)
    undoManager.undo()
    #expect(try context.count(Folder.self) == 3)
    #expect(root.children.count == 2)
    #expect(root.children.allSatisfy { $0.parent === root })
    try context.save()
    #expect(try store.reopened().count(Folder.self) == 3)
  }

  /// The rule may no longer deny the deletion, and the object stays until the next save all the same, as before.
  @Test(arguments: [false, true])
  func `S8 a denied deletion of an unsaved object, cancelled, comes back as it was`(movesDebt: Bool)
    throws
  {
    let context = try TestStore.owners(.memory).context()
    let undoManager = UndoManager()
    context.undoManager = undoManager
    let (ann, ben, debt) = (Owner(name: "Ann"), Owner(name: "Ben"), Debt(amount: 1))
    context.insert(ben)
    try context.save()
    context.insert(ann)
    ann.debts = [debt]
    context.processPendingChanges()
    context.delete(ann)
    context.processPendingChanges()
    if movesDebt { debt.owner = ben }
    context.processPendingChanges()
    #expect(ann.modelContext === context && ann.isDeleted)
    context.insert(ann)
    context.processPendingChanges()
    #expect(!ann.isDeleted)
    undoManager.undo()
    #expect(ann.modelContext === context && ann.isDeleted)
    if movesDebt {
      try context.save()
      #expect(ann.modelContext == nil)
      #expect(try context.fetch(FetchDescriptor<Owner>()).map(\.name) == ["Ben"])
    } else {
      #expect(throws: SwiftDataError.deletionDenied) { try context.save() }
    }
  }

  @Test(arguments: StorePlace.allCases)
  func `S8 without an undo manager nothing is recorded`(_ place: StorePlace) throws {
    let (_, context, undoManager) = try context(place)
    context.undoManager = nil
    context.insert(Member(name: "Ann"))
    context.processPendingChanges()
    #expect(!undoManager.canUndo)
    #expect(try store(place).context().undoManager == nil)
  }

  private func store(_ place: StorePlace) throws -> TestStore { try TestStore.clubs(place) }

  @Test(arguments: StorePlace.allCases)
  func `S7 rollback empties the undo stack`(_ place: StorePlace) throws {
    let (_, context, undoManager) = try context(place)
    let ann = Member(name: "Ann")
    context.insert(ann)
    try context.save()
    ann.name = "Anna"
    context.processPendingChanges()
    #expect(undoManager.canUndo)
    context.rollback()
    #expect(!undoManager.canUndo)
    #expect(!undoManager.canRedo)
    #expect(ann.name == "Ann")
  }

  @Test(arguments: StorePlace.allCases)
  func `I9 undo notifies`(_ place: StorePlace) throws {
    let (_, context, undoManager) = try context(place)
    let ann = Member(name: "Ann")
    context.insert(ann)
    try context.save()
    context.processPendingChanges()
    ann.name = "Anna"
    let fired = Box(false)
    withObservationTracking {
      _ = ann.name
    } onChange: {
      fired.value = true
    }
    undoManager.undo()
    #expect(fired.value)
  }
}
