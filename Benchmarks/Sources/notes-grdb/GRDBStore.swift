#if Server
  import Foundation
  import GRDB

  /// The notes of the example NotesKit on GRDB: the same table, settings of SQLite and statements.
  struct GRDBStore: Sendable {
    private struct Row: FetchableRecord, MutablePersistableRecord {
      static let databaseTableName = "Note"
      static var databaseSelection: [any SQLSelectable] {
        ["_id", "number", "title", "text", "reads"].map { Column($0) }
      }
      var id: Int64?
      var number: Int
      var title: String
      var text: String
      var reads = 0

      init(number: Int, title: String, text: String) {
        self.number = number
        self.title = title
        self.text = text
      }

      // By place instead of by name, and without Codable: GRDB's quickest way.
      init(row: GRDB.Row) {
        id = row[0]
        number = row[1]
        title = row[2]
        text = row[3]
        reads = row[4]
      }

      func encode(to container: inout PersistenceContainer) {
        container["_id"] = id
        container["number"] = number
        container["title"] = title
        container["text"] = text
        container["reads"] = reads
      }

      mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }

      var record: NoteRecord { NoteRecord(id: number, title: title, text: text, reads: reads) }
    }

    /// Kibibytes, as the records' store has them.
    private static let cacheSize = 16_384

    private let pool: DatabasePool

    init(file: URL) throws {
      var configuration = Configuration()
      configuration.foreignKeysEnabled = false
      configuration.prepareDatabase { database in
        try database.execute(
          sql: """
            PRAGMA cache_size = -\(Self.cacheSize); PRAGMA temp_store = MEMORY;
            PRAGMA cell_size_check = ON
            """)
      }
      pool = try DatabasePool(path: file.path, configuration: configuration)
      try pool.write { database in
        try database.create(table: "Note", options: [.ifNotExists]) { table in
          table.primaryKey("_id", .integer)
          table.column("number", .integer).unique()
          table.column("title", .text)
          table.column("text", .text)
          table.column("reads", .integer)
        }
      }
    }

    func newest(_ count: Int) async throws -> [NoteRecord] {
      try await pool.read { database in
        try Row.order(Column("number").desc).limit(count).fetchAll(database).map(\.record)
      }
    }

    func note(_ id: Int) async throws -> NoteRecord? {
      try await pool.read { try Self.find(id, in: $0)?.record }
    }

    func add(_ draft: NoteDraft) async throws -> NoteRecord {
      try await pool.write { database in
        let last = try Row.order(Column("number").desc).limit(1).fetchOne(database)
        var row = Row(number: (last?.number ?? 0) + 1, title: draft.title, text: draft.text)
        try row.insert(database)
        return row.record
      }
    }

    /// Adds one to the count of reads; nil where there is no such note.
    func countRead(of id: Int) async throws -> NoteRecord? {
      try await pool.write { database in
        guard var row = try Self.find(id, in: database) else { return nil }
        try row.updateChanges(database) { $0.reads += 1 }
        return row.record
      }
    }

    private static func find(_ id: Int, in database: Database) throws -> Row? {
      try Row.filter(Column("number") == id).fetchOne(database)
    }
  }
#endif
