import Foundation
import GRDB

/// The rows as GRDB's users write them: a Codable struct.
struct ItemRecord: Codable, FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "item"

  var id: Int64?
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

  enum Columns {
    static let rank = Column(CodingKeys.rank)
    static let price = Column(CodingKeys.price)
  }

  init(_ values: ItemValues) {
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

  mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

struct ParentRecord: Codable, FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "parent"
  static let children = hasMany(ChildRecord.self)

  var id: Int64?
  var name: String

  mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

struct ChildRecord: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "child"

  var id: Int64?
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
  var parentId: Int64

  init(_ values: ItemValues, parentId: Int64) {
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
    self.parentId = parentId
  }
}

struct Family: Decodable, FetchableRecord {
  var parent: ParentRecord
  var children: [ChildRecord]
}

extension DatabasePool {
  static func benchmark(_ path: String) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -16000") }
    return try DatabasePool(path: path, configuration: configuration)
  }

  func createItems(isIndexed: Bool = false) throws {
    try write { database in
      try database.create(table: "item") { table in
        table.autoIncrementedPrimaryKey("id")
        Self.addColumns(to: table)
      }
      if isIndexed { try database.create(indexOn: "item", columns: ["rank"]) }
    }
  }

  func createFamilies() throws {
    try write { database in
      try database.create(table: "parent") { table in
        table.autoIncrementedPrimaryKey("id")
        table.column("name", .text).notNull()
      }
      try database.create(table: "child") { table in
        table.autoIncrementedPrimaryKey("id")
        Self.addColumns(to: table)
        table.belongsTo("parent").notNull()
      }
    }
  }

  private static func addColumns(to table: TableDefinition) {
    table.column("title", .text).notNull()
    table.column("code", .text).notNull()
    table.column("rank", .integer).notNull()
    table.column("serial", .integer).notNull()
    table.column("price", .double).notNull()
    table.column("isActive", .boolean).notNull()
    table.column("createdAt", .datetime).notNull()
    table.column("note", .text)
    table.column("quantity", .integer)
    table.column("kind", .integer).notNull()
  }
}
