/// A table of pairs: a relationship that is to-many on both sides.
struct CoreDataPairs {
  /// A column that holds row numbers of an entity, and the relationship that leads to it.
  struct Side: Hashable {
    let column: String
    let entity: Int64
    /// The name of the relationship of the other side's entity, in capitals.
    let relationship: String
    /// The column with the places among those that one row of the other side leads to.
    var order: String?
  }

  /// The name of a column that leads from an entity to itself, for a relationship that is its own inverse.
  private static let reflexive = "REFLEXIVE"

  let table: String
  let sides: [Side]
  /// Whether the relationship is its own inverse, so that a pair counts for both of its rows.
  let isReflexive: Bool

  init?(_ table: String, _ columns: [String]) {
    guard Self.numbered(table, after: "Z_") != nil else { return nil }
    var sides: [Side] = []
    var orders: [(name: String, column: String)] = []
    var isReflexive = false
    for column in columns {
      let upper = column.uppercased()
      if upper.hasPrefix("Z_FOK_") {
        orders.append((String(upper.dropFirst("Z_FOK_".count)), column))
      } else if upper == Self.reflexive {
        isReflexive = true
        sides.append(Side(column: column, entity: 0, relationship: ""))
      } else if let (number, name) = Self.numbered(upper, after: "Z_") {
        sides.append(Side(column: column, entity: number, relationship: name))
      } else {
        return nil
      }
    }
    guard sides.count == 2 else { return nil }
    if isReflexive, let own = sides.first(where: { $0.entity != 0 }) {
      sides = sides.map {
        $0.entity == 0
          ? Side(column: $0.column, entity: own.entity, relationship: own.relationship) : $0
      }
    }
    for index in sides.indices {
      let side = sides[index]
      sides[index].order =
        orders.first {
          $0.name == "\(side.entity)\(side.relationship)" || $0.name == side.relationship
            || (isReflexive && $0.name == Self.reflexive
              && side.column.uppercased() == Self.reflexive)
        }?.column
    }
    self.table = table
    self.sides = sides
    self.isReflexive = isReflexive
  }

  /// The number and the name in `Z_12NAME`.
  static func numbered(_ text: String, after prefix: String) -> (Int64, String)? {
    guard text.hasPrefix(prefix) else { return nil }
    let rest = text.dropFirst(prefix.count)
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    let name = rest.dropFirst(digits.count)
    guard !name.isEmpty, let number = Int64(digits) else { return nil }
    return (number, String(name))
  }
}
