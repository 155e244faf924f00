import Foundation
import SwiftData

/// The models and the values of the store in `EarlierZones/`. Never to change: the store was written with them.
enum Voyage {
  static let zone = "0123456789abcdef0123456789abcdef"
  static let settingsZone = "fedcba9876543210fedcba9876543210"

  static let models: [any PersistentModel.Type] = [Harbour.self, Ship.self, Pennant.self]

  @Model final class Harbour {
    @Attribute(.unique) var name: String
    @Relationship(deleteRule: .cascade, inverse: \Ship.harbour) var ships: [Ship]

    init(_ name: String) {
      self.name = name
      ships = []
    }
  }

  @Model final class Ship {
    var name: String
    var note: String?
    var tons: Int
    var ratio: Double
    var flags: [String]
    var built: Date
    var badge: Data
    var visits: Int
    @Attribute(.externalStorage) var chart: Data?
    var harbour: Harbour?
    @Relationship(inverse: \Pennant.ships) var pennants: [Pennant]

    init(_ name: String, number: Int) {
      self.name = name
      note = nil
      tons = 1_000 * number
      ratio = Double(number) / 4
      flags = ["é", "flag \(number)"]
      built = Date(timeIntervalSinceReferenceDate: Double(number) * 86_400.25)
      badge = Data([0, UInt8(number), 255])
      visits = 0
      pennants = []
    }
  }

  @Model final class Pennant {
    var colour: String
    var ships: [Ship]

    init(_ colour: String) {
      self.colour = colour
      ships = []
    }
  }

  /// The large value of a ship.
  static let chart = Data((0..<132_000).map { UInt8(truncatingIfNeeded: $0 / 100) })

  // MARK: - What was done

  /// Opens a store in a directory.
  static func open(in directory: URL) throws -> ModelContainer {
    let schema = Schema(models)
    return try ModelContainer(
      for: schema,
      configurations: ModelConfiguration(
        schema: schema, url: directory.appending(path: "voyage.store"),
        sync: .zone(zone, merging: .counter(\Ship.visits))))
  }

  /// Makes the objects, which were then synced.
  static func fill(_ container: ModelContainer) throws {
    let context = ModelContext(container)
    let (north, south) = (Harbour("north"), Harbour("south"))
    let (red, blue) = (Pennant("red"), Pennant("blue"))
    let ships = [("Zeta", 1), ("Alpha", 2), ("Mu", 3), ("Omega", 4)].map { Ship($0, number: $1) }
    for harbour in [north, south] { context.insert(harbour) }
    for pennant in [red, blue] { context.insert(pennant) }
    for ship in ships { context.insert(ship) }
    ships[0].note = "ü 🚢"
    ships[0].pennants = [red, blue]
    ships[1].chart = chart
    ships[1].pennants = [red]
    north.ships = [ships[0], ships[1]]
    south.ships = [ships[2], ships[3]]
    try context.save()
  }

  /// Changes objects, which was then synced.
  static func change(_ container: ModelContainer) throws {
    let context = ModelContext(container)
    let ships = try context.fetch(FetchDescriptor<Ship>())
    for ship in ships {
      switch ship.name {
      case "Zeta": ship.visits = 3
      case "Mu": ship.name = "Nu"
      case "Omega": context.delete(ship)
      default: break
      }
    }
    try context.save()
  }

  /// Edits objects once the server is gone.
  static func edit(_ container: ModelContainer) throws {
    let context = ModelContext(container)
    for ship in try context.fetch(FetchDescriptor<Ship>()) where ship.name == "Zeta" {
      ship.note = "edited offline"
      ship.visits += 2
    }
    let late = Ship("Late", number: 5)
    context.insert(late)
    late.harbour = try context.fetch(FetchDescriptor<Harbour>()).first { $0.name == "south" }
    try context.save()
  }

  // MARK: - What there is

  /// The store's objects and values, without identities.
  static func content(_ container: ModelContainer) throws -> [String] {
    let context = ModelContext(container)
    let harbours = try context.fetch(FetchDescriptor<Harbour>()).map { harbour in
      "harbour \(harbour.name): \(harbour.ships.map(\.name).sorted())"
    }
    let pennants = try context.fetch(FetchDescriptor<Pennant>()).map { pennant in
      "pennant \(pennant.colour): \(pennant.ships.map(\.name).sorted())"
    }
    let ships = try context.fetch(FetchDescriptor<Ship>()).map { ship in
      let values = "\(ship.note ?? "-") \(ship.tons) \(ship.ratio) \(ship.flags) \(ship.visits)"
      let bytes = "\(Array(ship.badge)) \(ship.chart == chart)"
      let date = ship.built.timeIntervalSinceReferenceDate
      let pennants = ship.pennants.map(\.colour).sorted()
      return "ship \(ship.name) \(values) \(bytes) \(date) in \(ship.harbour?.name ?? "-"): "
        + "\(pennants)"
    }
    return (harbours + pennants + ships).sorted()
  }

  /// The content after all edits.
  static let expected = [
    #"harbour north: ["Alpha", "Zeta"]"#,
    #"harbour south: ["Late", "Nu"]"#,
    #"pennant blue: ["Zeta"]"#,
    #"pennant red: ["Alpha", "Zeta"]"#,
    #"ship Alpha - 2000 0.5 ["é", "flag 2"] 0 [0, 2, 255] true 172800.5 in north: ["red"]"#,
    #"ship Late - 5000 1.25 ["é", "flag 5"] 0 [0, 5, 255] false 432001.25 in south: []"#,
    #"ship Nu - 3000 0.75 ["é", "flag 3"] 0 [0, 3, 255] false 259200.75 in south: []"#,
    #"ship Zeta edited offline 1000 0.25 ["é", "flag 1"] 5 [0, 1, 255] false 86400.25"#
      + #" in north: ["blue", "red"]"#,
  ]
}
