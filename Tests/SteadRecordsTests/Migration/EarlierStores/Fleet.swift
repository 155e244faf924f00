import Foundation
import SwiftData

/// Models with attributes of each kind, each sort of relationship and a subclass, which stores of earlier layouts have.
///
/// They are never to change: the stores in `Stores/` were written with them.
enum Fleet {
  static let models: [any PersistentModel.Type] = [
    Port.self, Vessel.self, Tug.self, Sailor.self,
  ]

  enum Flag: String, Codable { case red, green }

  struct Size: Codable, Equatable {
    var length: Double
    var decks: Int
  }

  @Model final class Port {
    @Attribute(.unique) var code: String
    @Relationship(deleteRule: .cascade, inverse: \Vessel.port) var vessels: [Vessel]

    init(code: String) {
      self.code = code
      vessels = []
    }
  }

  @Model class Vessel {
    #Index<Vessel>([\.name])

    var name: String
    var isAfloat: Bool
    var small: Int8
    var large: Int64
    var huge: UInt64
    var ratio: Double
    var share: Float
    var built: Date
    var price: Decimal
    var identifier: UUID
    var page: URL
    var badge: Data
    var flag: Flag
    var size: Size
    var tags: [String]
    var note: String?
    @Attribute(.externalStorage) var chart: Data?
    var port: Port?
    @Relationship(inverse: \Sailor.vessels) var crew: [Sailor]

    init(name: String, number: Int) {
      self.name = name
      isAfloat = number.isMultiple(of: 2)
      small = Int8(-number)
      large = Int64.min + Int64(number)
      huge = UInt64.max - UInt64(number)
      ratio = Double(number) / 3
      share = Float(number) / 7
      built = Date(timeIntervalSinceReferenceDate: Double(number) * 86_400.25)
      price = Decimal(number) + Decimal(sign: .plus, exponent: -20, significand: 7)
      identifier = Fleet.identifier(number)
      page = Fleet.page(number)
      badge = Data([0, UInt8(number), 255])
      flag = number.isMultiple(of: 2) ? .green : .red
      size = Size(length: Double(number) + 0.5, decks: number)
      tags = ["é", "tag \(number)"]
      note = nil
      crew = []
    }
  }

  @Model final class Tug: Vessel {
    var pull: Int

    init(name: String, number: Int, pull: Int) {
      self.pull = pull
      super.init(name: name, number: number)
    }
  }

  @Model final class Sailor {
    var name: String
    var vessels: [Vessel]

    init(name: String) {
      self.name = name
      vessels = []
    }
  }

  static func identifier(_ number: Int) -> UUID {
    UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(number)))
  }

  static func page(_ number: Int) -> URL {
    URL(string: "https://example.org/vessel?number=\(number)") ?? URL(filePath: "/")
  }

  /// Large enough for a file of its own, which tests make again: `Stores/` has no files of this size.
  static let chart = Data((0..<132_000).map { UInt8(truncatingIfNeeded: $0 / 100) })

  /// Writes what all stores in `Stores/` have.
  static func fill(_ context: ModelContext) throws {
    let port = Port(code: "north")
    context.insert(port)
    context.insert(Port(code: "south"))
    let vessels = [
      Vessel(name: "Zeta", number: 1), Tug(name: "Alpha", number: 2, pull: 40),
      Vessel(name: "Mu", number: 3),
    ]
    for vessel in vessels { context.insert(vessel) }
    port.vessels = [vessels[0], vessels[2], vessels[1]]
    vessels[0].chart = chart
    vessels[1].note = "ü 🚢"
    let sailors = ["Ada", "Bo"].map(Sailor.init)
    for sailor in sailors { context.insert(sailor) }
    vessels[0].crew = [sailors[1], sailors[0]]
    vessels[1].crew = [sailors[0]]
    try context.save()
    // An update and a deletion, which a history has, too.
    let spare = Sailor(name: "Cy")
    context.insert(spare)
    try context.save()
    context.delete(spare)
    vessels[2].name = "Nu"
    try context.save()
  }
}
