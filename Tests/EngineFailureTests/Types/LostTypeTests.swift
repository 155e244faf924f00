import SteadSQLite

@testable import SteadRecords

private enum Lost {
  struct Taste: Codable, Equatable {
    var volume = 3
    var hint: String? = "first"
  }

  /// The settings under another name of their type, with fewer fields and optional.
  @Model final class Book {
    var title = ""
    var settings: Taste? = Taste()
    init() {}
  }

  enum Gone {
    @Model final class Book {
      var title = ""
      init() {}
    }
  }

  enum Renamed {
    @Model final class Book {
      var title = ""
      @Attribute(originalName: "settings") var taste = Taste()
      init() {}
    }
  }
}

/// An update of an app renames or removes a struct, and the store names the type that the program no longer has.
///
/// The columns that SQLite computes of the struct's fields were looked for in `Any`, and the process crashed.
@Suite("structs that the program no longer has") struct LostTypeTests {
  @Test(
    arguments: [
      (Lost.Book.self, ["settings_hint", "settings_volume"]), (Lost.Gone.Book.self, []),
      (Lost.Renamed.Book.self, ["taste_hint", "taste_volume"]),
      (Later.Book.self, ["settings_hint", "settings_theme", "settings_volume"]),
    ] as [(any PersistentModel.Type, [String])])
  func `a store with such a struct opens, and has the computed columns of the new one`(
    type: any PersistentModel.Type, computed: [String]
  ) throws {
    let file = try RecordsTestSupport.StoreFile()
    let context = ModelContext(try file.open(Earlier.Book.self))
    for _ in 0..<3 { context.insert(Earlier.Book(title: "a")) }
    try context.save()
    var options = SQLiteOptions(.file(file.url.path))
    options.isWritable = true
    options.trustsSchema = true
    let connection = try SQLiteConnection(options)
    let name = ValueTypeName.name(of: Earlier.Settings.self)
    // Nothing in this program has the name.
    try connection.run(
      "UPDATE stead_metadata SET value = replace(value, ?1, ?2) WHERE key = 'schema'",
      [.text("\"\(name)\""), .text("\"Nothing\"")])
    func open<T: PersistentModel>(_ type: T.Type) throws {
      for _ in 0..<2 {
        let container = try file.open(type)
        #expect(try ModelContext(container).all(type).count == 3)
        #expect(try container.check().problems.isEmpty)
      }
    }
    try _openExistential(type, do: open)
    let found = try connection.rows(
      "SELECT name FROM pragma_table_xinfo('Book') WHERE hidden <> 0 ORDER BY name")
    #expect(found == computed.map { [.text($0)] })
  }
}
