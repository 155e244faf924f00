import Foundation
import GRDBSQLite

/// The rows as plain objects, which is what hand-written code over SQLite gives.
final class PlainItem {
  var id: Int64
  var title: String
  var code: String
  var rank: Int
  var serial: Int64
  var price: Double
  var isActive: Bool
  var createdAt: Date
  var note: String?
  var quantity: Int?
  var kind: Kind

  static let columns =
    "title, code, rank, serial, price, isActive, createdAt, note, quantity, kind"
  static let declarations =
    "id INTEGER PRIMARY KEY, title TEXT, code TEXT, rank INTEGER, serial INTEGER, price REAL, "
    + "isActive INTEGER, createdAt REAL, note TEXT, quantity INTEGER, kind INTEGER"
  static let insertion =
    "INSERT INTO item (id, \(columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"

  init(_ values: ItemValues, id: Int64) {
    self.id = id
    title = values.title
    code = values.code
    rank = values.rank
    serial = values.serial
    price = values.price
    isActive = values.isActive
    createdAt = values.createdAt
    note = values.note
    quantity = values.quantity
    kind = values.kind
  }

  /// Reads the row of `SELECT id, <columns>`.
  init(_ row: PlainStatement) {
    id = row.integer(0)
    title = row.text(1)
    code = row.text(2)
    rank = Int(row.integer(3))
    serial = row.integer(4)
    price = row.real(5)
    isActive = row.integer(6) != 0
    createdAt = Date(timeIntervalSinceReferenceDate: row.real(7))
    note = row.isNull(8) ? nil : row.text(8)
    quantity = row.isNull(9) ? nil : Int(row.integer(9))
    kind = Kind(rawValue: Int(row.integer(10))) ?? .task
  }

  func bind(to statement: PlainStatement) {
    statement.bind(id, 1)
    statement.bind(title, 2)
    statement.bind(code, 3)
    statement.bind(Int64(rank), 4)
    statement.bind(serial, 5)
    statement.bind(price, 6)
    statement.bind(Int64(isActive ? 1 : 0), 7)
    statement.bind(createdAt.timeIntervalSinceReferenceDate, 8)
    if let note { statement.bind(note, 9) } else { statement.bindNull(9) }
    if let quantity { statement.bind(Int64(quantity), 10) } else { statement.bindNull(10) }
    statement.bind(Int64(kind.rawValue), 11)
  }
}

final class PlainParent {
  var id: Int64
  var name: String
  var children: [PlainItem] = []

  init(id: Int64, name: String) {
    self.id = id
    self.name = name
  }
}
