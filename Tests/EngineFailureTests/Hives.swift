import SwiftData

/// Two lists and a single object that share one inverse, each with a rule of deletion of its own.
@Model final class Hive {
  @Attribute(.unique) var name: String
  @Relationship(deleteRule: .nullify, inverse: \Bee.hive) var workers: [Bee] = []
  @Relationship(deleteRule: .cascade, inverse: \Bee.hive) var queen: Bee?
  @Relationship(deleteRule: .nullify, inverse: \Bee.hive) var drones: [Bee] = []

  init(name: String) { self.name = name }
}

@Model final class Bee {
  @Attribute(.unique) var name: String
  var hive: Hive?

  init(name: String) { self.name = name }
}

/// The relationships of a hive.
enum HiveEnd: Int, CaseIterable, Sendable {
  case workers, drones, queen

  func lead(_ hive: Hive, to bee: Bee) {
    switch self {
    case .workers: hive.workers.append(bee)
    case .drones: hive.drones.append(bee)
    case .queen: hive.queen = bee
    }
  }
}

/// Where the bees are, by name, as one context or the store has it: each in one relationship of one hive, or in none.
struct Bees: Equatable, CustomStringConvertible {
  struct Place: Equatable {
    var hive: String
    var end: HiveEnd
  }

  var places: [String: Place] = [:]
  var hives: Set<String> = []
  var bees: Set<String> = []

  /// Throws if the sides of a relationship contradict each other.
  init(_ context: ModelContext) throws {
    struct Contradiction: Error, CustomStringConvertible { let description: String }
    let hives = try context.fetch(FetchDescriptor<Hive>())
    let bees = try context.fetch(FetchDescriptor<Bee>())
    for hive in hives {
      self.hives.insert(hive.name)
      let ends = [
        (HiveEnd.workers, hive.workers), (.drones, hive.drones),
        (.queen, hive.queen.map { [$0] } ?? []),
      ]
      for (end, bees) in ends {
        for bee in bees {
          guard places[bee.name] == nil else {
            throw Contradiction(description: "\(bee.name) is in two places")
          }
          places[bee.name] = Place(hive: hive.name, end: end)
        }
      }
    }
    for bee in bees {
      self.bees.insert(bee.name)
      guard bee.hive?.name == places[bee.name]?.hive else {
        throw Contradiction(
          description: "\(bee.name).hive is \(bee.hive?.name ?? "nil"), "
            + "and it is in \(places[bee.name]?.hive ?? "none")")
      }
    }
  }

  init() {}

  var description: String {
    let words = bees.sorted().map { bee in
      "\(bee): \(places[bee].map { "\($0.hive).\($0.end)" } ?? "-")"
    }
    return "\(hives.sorted()) \(words.joined(separator: ", "))"
  }
}
