import Foundation
import SteadTestSupport
import SwiftData
import Testing

/// Ports with ships by each kind of to-many relationship.
private enum Docks1 {
  @Model class Ship {
    var name = ""
    var home: Port?
    var routes: [Port] = []
    init() {}
  }

  @Model final class Ferry: Ship {
    var decks = 1
    override init() { super.init() }
  }

  @Model class Port {
    var name = ""
    /// Without an inverse.
    @Relationship var guests: [Ship] = []
    @Relationship(inverse: \Ship.home) var ships: [Ship] = []
    @Relationship(inverse: \Ship.routes) var stops: [Ship] = []
    init() {}
  }

  @Model final class Harbor: Port {
    var depth = 1
    override init() { super.init() }
  }

  @Model final class Marina: Port {
    var berths = 1
    override init() { super.init() }
  }

  static let models: [any PersistentModel.Type] = [
    Ship.self, Ferry.self, Port.self, Harbor.self, Marina.self,
  ]
}

/// Without ferries and marinas, and with least numbers of ships.
private enum Docks2 {
  @Model final class Ship {
    var name = ""
    var home: Port?
    var routes: [Port] = []
    init() {}
  }

  @Model class Port {
    var name = ""
    @Relationship(minimumModelCount: 1) var guests: [Ship] = []
    @Relationship(minimumModelCount: 2, inverse: \Ship.home) var ships: [Ship] = []
    @Relationship(minimumModelCount: 1, inverse: \Ship.routes) var stops: [Ship] = []
    init() {}
  }

  @Model final class Harbor: Port {
    var depth = 1
    override init() { super.init() }
  }

  static let models: [any PersistentModel.Type] = [Ship.self, Port.self, Harbor.self]
}

/// A subclass that is removed takes its rows along. Lists were then left below their least number of objects without a
/// word, and each later edit of their owners was refused.
@Suite("Least numbers of objects when a subclass is removed") struct MemberMinimumMigrationTests {
  private let store: StoreFile

  init() throws { store = try StoreFile() }

  private func open(_ models: [any PersistentModel.Type]) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(models), configurations: ModelConfiguration(url: store.url))
  }

  @Test func `a subclass that a list needs for its least number cannot be removed`() throws {
    do {
      let context = ModelContext(try open(Docks1.models))
      let (full, short) = (Docks1.Port(), Docks1.Harbor())
      context.insert(full)
      try context.save()
      context.insert(short)
      full.guests = [Docks1.Ship(), Docks1.Ferry()]
      short.guests = [Docks1.Ferry()]
      try context.save()
    }
    let error = #expect(throws: SwiftDataError.loadIssueModelContainer) { try open(Docks2.models) }
    let message = try #require(error?.message)
    #expect(message.contains("Harbor.guests needs 1 or more objects"))
    #expect(message.contains("gone: 2 keeps 0."))
    #expect(message.contains("`minimumModelCount`"))
    #expect(!message.contains("Port.guests"))
    do {
      // Nothing was written.
      let context = ModelContext(try open(Docks1.models))
      let short = try context.only(Docks1.Harbor.self)
      #expect(short.guests.count == 1 && short.guests[0] is Docks1.Ferry)
      short.guests.append(Docks1.Ship())
      try context.save()
    }
    let container = try open(Docks2.models)
    #expect(try ModelContext(container).only(Docks2.Harbor.self).guests.count == 1)
    #expect(try container.check().isSound)
  }

  private struct Counts {
    var ships = 0
    var ferries = 0

    /// What the migration says of a list that keeps the ships and loses the ferries; nil if it is content.
    func shortage(_ minimum: Int) -> Int? { ferries > 0 && ships < minimum ? ships : nil }
  }

  /// Any number of ships and ferries in any list of any port. A list that was too short before has lost nothing.
  @Test func `a removal is refused exactly for the lists that become too short by it`() async throws
  {
    for round in 0..<UInt64(Effort.times(25)) {
      var random = SplitMix(seed: Effort.seed &+ round)
      let store = try StoreFile()
      func open(_ models: [any PersistentModel.Type]) throws -> ModelContainer {
        try ModelContainer(
          for: Schema(models), configurations: ModelConfiguration(url: store.url))
      }
      var expected: [String: [String]] = [:]
      do {
        let context = ModelContext(try open(Docks1.models))
        for row in 1...Int.random(in: 1...3, using: &random) {
          let kind = Int.random(in: 0..<3, using: &random)
          let port = [Docks1.Port(), Docks1.Harbor(), Docks1.Marina()][kind]
          context.insert(port)
          try context.save()
          let lists:
            [(
              name: String, path: ReferenceWritableKeyPath<Docks1.Port, [Docks1.Ship]>, minimum: Int
            )] = [
              ("guests", \.guests, 1), ("ships", \.ships, 2), ("stops", \.stops, 1),
            ]
          for list in lists {
            let counts = Counts(
              ships: Int.random(in: 0...3, using: &random),
              ferries: max(0, Int.random(in: -2...2, using: &random)))
            port[keyPath: list.path] =
              (0..<counts.ships).map { _ in Docks1.Ship() }
              + (0..<counts.ferries).map { _ in Docks1.Ferry() }
            // A marina goes itself.
            guard kind < 2, let rest = counts.shortage(list.minimum) else { continue }
            let name = ["Port", "Harbor"][kind]
            expected["\(name).\(list.name) needs \(list.minimum) or more", default: []]
              .append("\(row) keeps \(rest)")
          }
          try context.save()
        }
      }
      do {
        let container = try open(Docks2.models)
        #expect(expected.isEmpty, "STEAD_SEED=\(Effort.seed &+ round): not refused: \(expected)")
        #expect(try container.check().rowCounts["Ferry"] == nil)
      } catch let error as SwiftDataError {
        let message = error.message
        for (start, rows) in expected {
          let text = "gone: \(rows.joined(separator: ", "))."
          #expect(message.contains(start) && message.contains(text), "\(start) \(text): \(message)")
        }
        #expect(message.components(separatedBy: "or more objects").count == expected.count + 1)
      }
      await Task.yield()
    }
  }
}
