import Foundation
import RecordsTestSupport
import SteadTestSupport
import SwiftData
import Testing

/// Stores that were written with each earlier layout of tables still open, read, change and are sound.
@Suite struct EarlierStoreTests {
  /// The layout of a store; `Stores/README.md` tells how they differ.
  enum Layout: String, CaseIterable { case first, counted, history, oldValues, today }

  private let directory: URL

  private var url: URL { directory.file("fleet.store") }

  init() throws { directory = try TestFiles.directory() }

  /// Copies a store, and makes its large value's file, whose name is the digest of its content.
  private func prepare(_ layout: Layout) throws {
    if layout == .today { return try Fleet.fill(open()) }
    let stores = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Stores")
    let content = try Data(contentsOf: stores.file("\(layout.rawValue).store"))
    try content.write(to: url)
    let files = directory.appending(path: ".fleet.store_external", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: files, withIntermediateDirectories: false)
    try Fleet.chart.write(to: files.file(Self.chartName))
  }

  private static let chartName =
    "1dbe3819b263ed3ce51d527fe7d34fcc94d71c79e75f0e3017090083c27d70fc"

  private func open(_ history: ModelConfiguration.History = .on) throws -> ModelContext {
    var configuration = ModelConfiguration(url: url)
    configuration.history = history
    return ModelContext(
      try ModelContainer(for: Schema(Fleet.models), configurations: configuration))
  }

  private func vessels(_ context: ModelContext) throws -> [Fleet.Vessel] {
    try context.fetch(FetchDescriptor<Fleet.Vessel>(sortBy: [SortDescriptor(\.small)])).reversed()
  }

  private func expectValues(_ vessel: Fleet.Vessel, number: Int) {
    #expect(vessel.isAfloat == number.isMultiple(of: 2))
    #expect(vessel.small == Int8(-number))
    #expect(vessel.large == Int64.min + Int64(number))
    #expect(vessel.huge == UInt64.max - UInt64(number))
    #expect(vessel.ratio == Double(number) / 3)
    #expect(vessel.share == Float(number) / 7)
    #expect(vessel.built.timeIntervalSinceReferenceDate == Double(number) * 86_400.25)
    #expect(vessel.price == Decimal(string: "\(number).00000000000000000007"))
    #expect(vessel.identifier == Fleet.identifier(number))
    #expect(vessel.page == Fleet.page(number))
    #expect(vessel.badge == Data([0, UInt8(number), 255]))
    #expect(vessel.flag == (number.isMultiple(of: 2) ? .green : .red))
    #expect(vessel.size == Fleet.Size(length: Double(number) + 0.5, decks: number))
    #expect(vessel.tags == ["é", "tag \(number)"])
  }

  /// Expects what all stores have; returns the context.
  private func expectContent() throws -> ModelContext {
    let context = try open()
    let vessels = try vessels(context)
    try #require(vessels.map(\.name) == ["Zeta", "Alpha", "Nu"])
    for (index, vessel) in vessels.enumerated() { expectValues(vessel, number: index + 1) }
    #expect(vessels.map(\.note) == [nil, "ü 🚢", nil])
    #expect(vessels.map { $0.chart == nil } == [false, true, true])
    #expect(vessels[0].chart == Fleet.chart)
    #expect((vessels[1] as? Fleet.Tug)?.pull == 40 && !(vessels[0] is Fleet.Tug))
    let ports = try context.fetch(
      FetchDescriptor<Fleet.Port>(sortBy: [SortDescriptor(\.code)]))
    try #require(ports.map(\.code) == ["north", "south"])
    // In their order, which is neither that of the names nor that of the rows.
    #expect(ports.map { $0.vessels.map(\.name) } == [["Zeta", "Nu", "Alpha"], []])
    #expect(vessels.allSatisfy { $0.port === ports[0] })
    #expect(vessels.map { $0.crew.map(\.name) } == [["Bo", "Ada"], ["Ada"], []])
    let ada = try context.only(Fleet.Sailor.self, where: #Predicate { $0.name == "Ada" })
    #expect(Set(ada.vessels.map(\.name)) == ["Zeta", "Alpha"])
    #expect(try context.count(Fleet.Sailor.self) == 2)
    return context
  }

  private func expectSound(_ context: ModelContext) throws {
    let check = try context.container.check()
    #expect(check.problems.isEmpty, "\(check)")
  }

  @Test(arguments: Layout.allCases) func `a store opens and is sound`(layout: Layout) throws {
    try prepare(layout)
    for _ in 1...2 { try expectSound(expectContent()) }
    #expect(try expectContent().container.migrations.isEmpty)
  }

  @Test(arguments: Layout.allCases) func `a store changes and stays sound`(layout: Layout) throws {
    try prepare(layout)
    let context = try expectContent()
    let found = try vessels(context)
    found[0].name = "Zeta 2"
    found[0].chart = Data(Fleet.chart.reversed())
    found[1].crew.append(
      try context.only(Fleet.Sailor.self, where: #Predicate { $0.name == "Bo" }))
    let ports = try context.fetch(
      FetchDescriptor<Fleet.Port>(sortBy: [SortDescriptor(\.code)]))
    ports[1].vessels = [Fleet.Tug(name: "New", number: 4, pull: 1), found[2]]
    // A code that exists: the row is updated.
    context.insert(Fleet.Port(code: "south"))
    context.delete(try context.only(Fleet.Sailor.self, where: #Predicate { $0.name == "Ada" }))
    try context.save()
    try expectSound(context)

    let again = try open()
    let vessels = try vessels(again)
    #expect(vessels.map(\.name) == ["Zeta 2", "Alpha", "Nu", "New"])
    for (index, vessel) in vessels.enumerated() { expectValues(vessel, number: index + 1) }
    #expect(vessels[0].chart == Data(Fleet.chart.reversed()))
    #expect(vessels.map { $0.crew.map(\.name) } == [["Bo"], ["Bo"], [], []])
    #expect(vessels.map { $0.port?.code } == ["north", "north", "south", "south"])
    #expect(try again.count(Fleet.Port.self) == 2)
    try expectSound(again)
  }

  @Test func `rows that were kept are read as they were`() throws {
    try prepare(.oldValues)
    let context = try open(.withOldValues)
    let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    let past = ModelContext(try context.container.asOf(history[0].token))
    #expect(try Set(past.all(Fleet.Vessel.self).map(\.name)) == ["Zeta", "Alpha", "Mu"])
    #expect(try vessels(context).map(\.name) == ["Zeta", "Alpha", "Nu"])
  }

  @Test(arguments: Layout.allCases) func `a store goes on with its history`(layout: Layout) throws {
    try prepare(layout)
    let before = try open().fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count
    let context = try open()
    context.author = "later"
    try vessels(context)[2].note = "changed"
    try context.save()
    let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(history.count == before + 1 && history.last?.author == "later")
    // Three saves were counted before there was a history. The first layout didn't count them.
    #expect(history.last?.transactionIdentifier == (layout == .first ? 1 : 4))
    #expect(before == ([.first, .counted].contains(layout) ? 0 : 3))
  }
}
