import Foundation
import SwiftData
import Testing

private enum Bench {
  @Model final class Page {
    var title: String
    init(_ title: String) { self.title = title }
  }

  @Model final class Desk {
    var number = 0
    var best: Page?
    var pages: [Page] = []
    init() {}
  }
}

/// When references without an inverse, to-one and lists, leave what is deleted.
@Suite("references without an inverse to what is deleted") struct OneWayDeletionTests {
  private func store(_ place: StorePlace) throws -> TestStore {
    let store = try TestStore(place, Bench.Page.self, Bench.Desk.self)
    let context = store.context()
    let desk = Bench.Desk()
    let pages = ["a", "b"].map { Bench.Page($0) }
    context.insert(desk)
    (desk.best, desk.pages) = (pages[0], pages)
    try context.save()
    return store
  }

  private func first(_ context: ModelContext) throws -> Bench.Page {
    try #require(try context.all(Bench.Page.self).first { $0.title == "a" })
  }

  private func check(_ desk: Bench.Desk, leadsToFirst: Bool, _ comment: Comment) {
    #expect(desk.best?.title == (leadsToFirst ? "a" : nil), comment)
    #expect(desk.pages.map(\.title) == (leadsToFirst ? ["a", "b"] : ["b"]), comment)
  }

  @Test(arguments: StorePlace.allCases, [false, true])
  func `R4 a reference without an inverse is cleared by the save, loaded or not`(
    _ place: StorePlace, isLoaded: Bool
  ) throws {
    let store = try store(place)
    let context = store.context()
    if isLoaded { check(try context.only(Bench.Desk.self), leadsToFirst: true, "loaded") }
    context.delete(try first(context))
    let desk = try context.only(Bench.Desk.self)
    check(desk, leadsToFirst: true, "before the save")
    #expect(context.changedModelsArray.isEmpty)
    let leading = FetchDescriptor<Bench.Desk>(predicate: #Predicate { $0.best != nil })
    #expect(try context.fetchCount(leading) == 1)
    try context.save()
    check(desk, leadsToFirst: false, "after the save")
    #expect(try context.fetchCount(leading) == 0)
    check(try store.reopened().only(Bench.Desk.self), leadsToFirst: false, "reopened")
  }

  @Test
  func `R4 a reference without an inverse to an object that was never saved is cleared at once`()
    throws
  {
    let context = try store(.memory).context()
    let (desk, page) = (try context.only(Bench.Desk.self), Bench.Page("c"))
    context.insert(page)
    desk.best = page
    desk.pages.append(page)
    context.delete(page)
    #expect(desk.best == nil)
    #expect(desk.pages.map(\.title) == ["a", "b"])
  }

  /// Undoing a step since the deletion doesn't bring the object back, which is in no store then.
  @Test(arguments: StorePlace.allCases, [[], [1], [2], [1, 2]])
  func `S8 a reference without an inverse comes back with its object, not before`(
    _ place: StorePlace, saves: Set<Int>
  ) throws {
    let store = try store(place)
    let context = store.context()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    let (desk, page) = (try context.only(Bench.Desk.self), try first(context))
    for step in 1...2 {
      manager.beginUndoGrouping()
      if step == 1 { context.delete(page) } else { desk.number = 1 }
      manager.endUndoGrouping()
      if saves.contains(step) { try context.save() }
    }
    for round in 1...2 {
      manager.undo()
      #expect(desk.number == 0)
      check(desk, leadsToFirst: saves.isEmpty && round == 1, "the later step is undone")
      manager.undo()
      check(desk, leadsToFirst: true, "the deletion is undone")
      #expect(desk.best === page && !page.isDeleted)
      try context.save()
      check(try store.reopened().only(Bench.Desk.self), leadsToFirst: true, "undone and saved")
      manager.redo()
      manager.redo()
      #expect(desk.number == 1)
      try context.save()
      check(desk, leadsToFirst: false, "done again")
    }
    check(try store.reopened().only(Bench.Desk.self), leadsToFirst: false, "done again and saved")
  }
}
