import Foundation
import SteadRecords
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadTransfer

/// Two lists and a single object over one to-one relationship.
@Model final class Rack {
  var name: String
  @Relationship(inverse: \Tool.rack) var used: [Tool] = []
  @Relationship(inverse: \Tool.rack) var spare: [Tool] = []
  @Relationship(inverse: \Tool.rack) var best: Tool?

  init(_ name: String) { self.name = name }
}

@Model final class Tool {
  var name: String
  var rack: Rack?

  init(_ name: String) { self.name = name }
}

@Suite struct SharedInverseTransferTests {
  let old: ModelContainer
  let new: ModelContainer
  private let directory: TemporaryDirectory

  init() throws {
    let directory = try TemporaryDirectory()
    func open(_ name: String) throws -> ModelContainer {
      try ModelContainer(
        for: Rack.self, Tool.self,
        configurations: ModelConfiguration(url: directory.file(name)))
    }
    self.directory = directory
    (old, new) = (try open("old.store"), try open("new.store"))
    let context = ModelContext(old)
    let rack = Rack("wall")
    context.insert(rack)
    rack.used = [Tool("saw"), Tool("axe")]
    rack.spare = [Tool("file"), Tool("awl"), Tool("plane")]
    rack.best = Tool("chisel")
    context.insert(Tool("rasp"))
    try context.save()
    rack.spare.swapAt(0, 2)
    try context.save()
  }

  private func transfer(
    of models: [any PersistentModel.Type] = [], dropsMissing: Bool = false
  ) -> Transfer<StoredRow, StoredRow> {
    Transfer(
      "racks", from: .store(old, of: models),
      to: .store(new, dropsMissingDestinations: dropsMissing),
      options: TransferOptions(keepsSource: true))
  }

  private func check(spare: [String] = ["plane", "awl", "file"]) throws {
    let context = ModelContext(new)
    let rack = try #require(try context.fetch(FetchDescriptor<Rack>()).first)
    #expect(rack.used.map(\.name) == ["saw", "axe"])
    #expect(rack.spare.map(\.name) == spare)
    #expect(rack.best?.name == "chisel")
    #expect(rack.best?.rack === rack)
    #expect(try context.fetch(FetchDescriptor<Tool>()).filter { $0.rack == nil }.count == 1)
  }

  @Test func `moves each object in its list`() throws {
    #expect(try transfer().run().moved == 8)
    try check()
    #expect(try transfer().run().moved == 0)
  }

  @Test func `rows that come later than their owner go to their list`() throws {
    #expect(try transfer(of: [Rack.self], dropsMissing: true).run().moved == 1)
    #expect(try transfer(of: [Tool.self], dropsMissing: true).run().moved == 7)
    // Only the rack's own row tells of the order.
    try check(spare: ["file", "awl", "plane"])
  }

  @Test func `owners that come later than their rows get their lists`() throws {
    #expect(try transfer(of: [Tool.self], dropsMissing: true).run().moved == 7)
    #expect(try transfer(dropsMissing: true).run().moved == 1)
    try check()
  }
}
