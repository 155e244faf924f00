import SteadSQLite
import SwiftData
import WorkerModels

@testable import SteadRecords

/// What a store of yards holds, as plain values: a copy in memory.
struct YardContent: Equatable {
  /// An object, by the number that processes call it by.
  struct Key: Hashable {
    let entity: String
    let number: Int
  }

  /// A barrel and a seal that it has.
  struct Pair: Hashable {
    let barrel: Int
    let seal: Int
  }

  struct Yard: Equatable {
    var row: Int64 = 0
    var name: String
    var note: String?
  }

  struct Barrel: Equatable {
    var row: Int64 = 0
    var litres: Double?
    var yard: Int?
  }

  struct Permit: Equatable {
    var row: Int64 = 0
    var text: String
  }

  var yards: [Int: Yard] = [:]
  var barrels: [Int: Barrel] = [:]
  /// Their rows.
  var seals: [Int: Int64] = [:]
  var permits: [Int: Permit] = [:]
  var pairs: Set<Pair> = []

  init() {}

  /// What a file holds now.
  init(_ connection: SQLiteConnection) throws {
    for row in try connection.rows("SELECT number, _id, name, note FROM Yard") {
      yards[row[0].int] = Yard(
        row: Int64(row[1].int), name: row[2].string ?? "", note: row[3].string)
    }
    // A reference to a row that does not exist is to no yard of the reference.
    let barrels = """
      SELECT b.number, b._id, b.litres, iif(b.yard IS NULL, NULL, ifnull(y.number, -1)) \
      FROM Barrel AS b LEFT JOIN Yard AS y ON y._id = b.yard
      """
    for row in try connection.rows(barrels) {
      var barrel = Barrel(row: Int64(row[1].int))
      if case .real(let litres) = row[2] { barrel.litres = litres }
      if case .integer(let yard) = row[3] { barrel.yard = Int(yard) }
      self.barrels[row[0].int] = barrel
    }
    for row in try connection.rows("SELECT number, _id FROM Seal") {
      seals[row[0].int] = Int64(row[1].int)
    }
    for row in try connection.rows("SELECT number, _id, text FROM Permit") {
      permits[row[0].int] = Permit(row: Int64(row[1].int), text: row[2].string ?? "")
    }
    let pairs = """
      SELECT ifnull(b.number, -1), ifnull(s.number, -1) FROM Barrel_seals AS p \
      LEFT JOIN Barrel AS b ON b._id = p.owner LEFT JOIN Seal AS s ON s._id = p.target
      """
    for row in try connection.rows(pairs) {
      self.pairs.insert(Pair(barrel: row[0].int, seal: row[1].int))
    }
  }

  /// What a context fetches.
  init(_ context: ModelContext) throws {
    for yard in try context.all(WorkerModels.Yard.self) {
      yards[yard.number] = Yard(row: yard.persistentModelID.row, name: yard.name, note: yard.note)
    }
    for barrel in try context.all(WorkerModels.Barrel.self) {
      barrels[barrel.number] = Barrel(
        row: barrel.persistentModelID.row, litres: barrel.litres, yard: barrel.yard?.number)
      for seal in barrel.seals {
        pairs.insert(Pair(barrel: barrel.number, seal: seal.number))
      }
    }
    for seal in try context.all(Seal.self) { seals[seal.number] = seal.persistentModelID.row }
    for permit in try context.all(WorkerModels.Permit.self) {
      permits[permit.number] = Permit(row: permit.persistentModelID.row, text: permit.text)
    }
  }

  // MARK: Objects

  var keys: Set<Key> {
    Set(
      yards.keys.map { Key(entity: "Yard", number: $0) }
        + barrels.keys.map { Key(entity: "Barrel", number: $0) }
        + seals.keys.map { Key(entity: "Seal", number: $0) }
        + permits.keys.map { Key(entity: "Permit", number: $0) })
  }

  func row(_ key: Key) -> Int64? {
    switch key.entity {
    case "Yard": yards[key.number]?.row
    case "Barrel": barrels[key.number]?.row
    case "Seal": seals[key.number]
    default: permits[key.number]?.row
    }
  }

  /// An object's attributes and references as strings; nil ones are left out.
  func attributes(_ key: Key) -> [String: String] {
    var result = ["number": "\(key.number)"]
    switch key.entity {
    case "Yard":
      result["name"] = yards[key.number]?.name
      result["note"] = yards[key.number]?.note
    case "Barrel":
      let barrel = barrels[key.number]
      result["litres"] = barrel?.litres.map { "\($0)" }
      result["yard"] = barrel?.yard.flatMap { yards[$0] }.map { "\($0.row)" }
    case "Permit": result["text"] = permits[key.number]?.text
    default: break
    }
    return result
  }

  /// Takes over the rows of objects that are new.
  mutating func takeRows(of stored: Self) {
    for (number, yard) in yards where yard.row == 0 {
      yards[number]?.row = stored.yards[number]?.row ?? 0
    }
    for (number, barrel) in barrels where barrel.row == 0 {
      barrels[number]?.row = stored.barrels[number]?.row ?? 0
    }
    for (number, row) in seals where row == 0 { seals[number] = stored.seals[number] ?? 0 }
    for (number, permit) in permits where permit.row == 0 {
      permits[number]?.row = stored.permits[number]?.row ?? 0
    }
  }
}

extension SQLValue {
  fileprivate var int: Int { if case .integer(let number) = self { Int(number) } else { 0 } }
  fileprivate var string: String? { if case .text(let text) = self { text } else { nil } }
}
