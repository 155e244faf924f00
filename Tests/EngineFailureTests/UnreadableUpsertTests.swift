import Foundation
import RecordsTestSupport
import SteadSQLite
import SteadTestSupport
import SwiftData
import Testing

struct SpoiledPoint: Codable, Equatable {
  var x = 0
  var y = 0
}

@Model final class Spoiled {
  @Attribute(.unique) var name: String
  var point = SpoiledPoint()
  var binding = Binding.paper
  var count = 0

  init(_ name: String, _ count: Int) {
    self.name = name
    self.count = count
  }
}

/// With an undo manager, a new object with the unique key of a row that another program had made unreadable was read before it
/// was saved. So this save, and each later one of the context, failed.
@Suite("New objects with the unique key of an unreadable row") struct UnreadableUpsertTests {
  enum Damage: String, CaseIterable {
    case point = "point = '{\"x\":\"bad\"}'"
    case binding = "binding = 'papyrus'"
  }

  private func spoil(_ store: TestStore, _ damage: Damage) throws {
    var options = SQLiteOptions(.file(store.url.path))
    options.isWritable = true
    options.trustsSchema = true
    let connection = try SQLiteConnection(options)
    _ = try connection.rows("UPDATE Spoiled SET \(damage.rawValue) WHERE name = 'k'", [])
  }

  private func contents(_ context: ModelContext) throws -> [String] {
    try context.fetch(FetchDescriptor<Spoiled>(sortBy: [.init(\.name)])).map {
      "\($0.name) \($0.count) \($0.point.x) \($0.binding)"
    }
  }

  @Test(arguments: [1, 2, 3], [false, true])
  func `they take its place, also with an undo manager`(copies: Int, hasUndo: Bool) throws {
    for damage in Damage.allCases {
      let store = try TestStore(Spoiled.self)
      let writer = store.context()
      writer.insertAll(Spoiled("j", 1), Spoiled("k", 2))
      try writer.save()
      try spoil(store, damage)
      let context = store.context()
      if hasUndo { context.undoManager = UndoManager() }
      for copy in 0..<copies { context.insert(Spoiled("k", 10 + copy)) }
      context.insert(Spoiled("j", 5))
      try context.save()
      let after = ["j 5 0 paper", "k \(9 + copies) 0 paper"]
      #expect(try contents(context) == after)
      #expect(try contents(store.reopened()) == after)
      context.insert(Spoiled("l", 3))
      try context.save()
      #expect(try contents(store.reopened()) == after + ["l 3 0 paper"])
    }
  }

  @Test func `undo removes what took the place of an unreadable row, and redo brings it back`()
    throws
  {
    let store = try TestStore(Spoiled.self)
    let writer = store.context()
    writer.insert(Spoiled("k", 2))
    try writer.save()
    try spoil(store, .point)
    let context = store.context()
    let manager = UndoManager()
    context.undoManager = manager
    context.insert(Spoiled("k", 7))
    try context.save()
    manager.undo()
    try context.save()
    #expect(try contents(store.reopened()).isEmpty)
    manager.redo()
    try context.save()
    #expect(try contents(store.reopened()) == ["k 7 0 paper"])
  }
}
