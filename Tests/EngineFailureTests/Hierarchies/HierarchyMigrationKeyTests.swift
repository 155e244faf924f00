import SteadSQLite

@testable import SteadRecords

/// Whether a new unique key can be had was asked of all rows of a table in one way. The default value of a new property
/// was a column's number to SQLite, so the store could not be opened at all; and rows of other classes, and nils that
/// stay nil, counted with default values that they never get.
@Suite("unique keys that a migration adds") struct HierarchyMigrationKeyTests {
  private typealias Class = SketchedSchema.Class
  private typealias Field = SketchedSchema.Field

  private let store: SketchedStore

  init() throws { store = SketchedStore(try RecordsTestSupport.StoreFile().url) }

  private static let name = Field(name: "name")

  private static func items(_ fields: [Field], _ keys: [[String]]) -> SketchedSchema {
    SketchedSchema(Class(name: "Base", fields: [name] + fields, keys: keys))
  }

  /// Default values that SQLite would take for a column's number, or for an aggregate's.
  struct Default: CustomTestStringConvertible, Sendable {
    let field: SketchedSchema.Field
    var testDescription: String { "\(field.type) \(field.defaultValue.map { "\($0)" } ?? "")" }

    static var all: [Default] {
      [0, 1, 2, 3, 99].map {
        Default(field: SketchedSchema.Field(name: "year", type: Int.self, defaultValue: $0))
      } + [
        Default(field: SketchedSchema.Field(name: "year", type: Bool.self, defaultValue: false)),
        Default(field: SketchedSchema.Field(name: "year", type: Bool.self, defaultValue: true)),
        Default(field: SketchedSchema.Field(name: "year", type: Double.self, defaultValue: 1.0)),
        Default(field: SketchedSchema.Field(name: "year", type: String.self, defaultValue: "1")),
      ]
    }
  }

  @Test(arguments: Default.all, [MigrationRole.none, .ofCustomStage])
  func `a new property with a default value becomes part of a key`(
    _ value: Default, role: MigrationRole
  ) throws {
    let old = try store.open(Self.items([], []))
    try old.add(1, of: "Base", ["name": .text("a")])
    try old.add(2, of: "Base", ["name": .text("b")])
    let new = try store.open(Self.items([value.field], [["name", "year"]]), role: role)
    #expect(try new.values("name", of: "Base") == [1: .text("a"), 2: .text("b")])
    #expect(try Set(new.values("year", of: "Base").values.map { "\($0)" }).count == 1)
  }

  @Test(arguments: Default.all)
  func `a new property with a default value is unique alone if there is one row`(_ value: Default)
    throws
  {
    try store.open(Self.items([], [])).add(1, of: "Base", ["name": .text("a")])
    let new = try store.open(Self.items([value.field], [["year"]]))
    #expect(try new.values("year", of: "Base").count == 1)
  }

  @Test(arguments: Default.all)
  func `rows that would share a default value are named`(_ value: Default) throws {
    let old = try store.open(Self.items([], []))
    for row in 1...2 { try old.add(Int64(row), of: "Base", ["name": .text("a")]) }
    for keys in [["year"], ["name", "year"], ["year", "name"]] {
      let error = #expect(throws: SwiftDataError.self) {
        try store.open(Self.items([value.field], [keys]))
      }
      #expect(error == .loadIssueModelContainer)
      #expect(error?.message.contains("rows 1 and 2") ?? false, "\(error?.message ?? "")")
    }
  }

  /// Its default value is for new objects alone.
  @Test func `nils of a property that stays optional do not clash`() throws {
    let code = Field(name: "code", defaultValue: "x")
    let old = try store.open(Self.items([code], []))
    for row in 1...3 { try old.add(Int64(row), of: "Base", row == 3 ? ["code": .text("x")] : [:]) }
    let new = try store.open(Self.items([code], [["code"]]))
    #expect(try new.values("code", of: "Base") == [1: .null, 2: .null, 3: .text("x")])
  }

  /// A key of class A, which B may have the property of, too.
  private func siblings(
    _ a: [Field], _ b: [Field] = [], keys: [[String]] = [["code"]]
  ) -> SketchedSchema {
    SketchedSchema(
      Class(name: "Base"), Class(name: "A", parent: "Base", fields: a, keys: keys),
      Class(name: "B", parent: "Base", fields: b))
  }

  @Test(arguments: [false, true])
  func `rows of other classes do not count for a key of one`(isNew: Bool) throws {
    let optional = Field(name: "code")
    let required = Field(name: "code", type: String.self, defaultValue: "x")
    let old = try store.open(siblings(isNew ? [] : [optional], keys: []))
    try old.add(1, of: "A")
    for row in 2...4 { try old.add(Int64(row), of: "B") }
    try old.add(5, of: "Base")
    let new = try store.open(siblings([required]))
    #expect(try new.values("code", of: "A") == [1: .text("x")])
    #expect(try new.values("code", of: "B").values.allSatisfy { $0 == .null })
  }

  @Test func `a class that gets the property counts for the key that another has`() throws {
    let code = Field(name: "code", defaultValue: "x")
    let old = try store.open(siblings([code]))
    try old.add(1, of: "A", ["code": .text("x")])
    try old.add(2, of: "B")
    let error = #expect(throws: SwiftDataError.self) { try store.open(siblings([code], [code])) }
    #expect(error?.message.contains("rows 1 and 2") ?? false, "\(error?.message ?? "")")
    #expect(try store.open(siblings([code])).values("code", of: "B") == [2: .null])
  }

  /// The column of a table that had no hierarchy had its property's default value, which all new rows got.
  @Test func `rows of a class do not get the default value of another's column`() throws {
    let plain = SketchedSchema(Class(name: "A", fields: [Self.name]))
    try store.open(plain).add(1, of: "A", ["name": .text("a")])
    let rank = Field(name: "rank", type: Int.self, defaultValue: 5)
    let ranked = try store.open(SketchedSchema(Class(name: "A", fields: [Self.name, rank])))
    #expect(try ranked.values("rank", of: "A") == [1: .integer(5)])
    let family = try store.open(
      SketchedSchema(
        Class(name: "Base"), Class(name: "A", parent: "Base", fields: [Self.name, rank]),
        Class(name: "B", parent: "Base")))
    let plan = try #require(
      family.layout.entity(named: "B").flatMap { family.plans[$0.index]?.plan })
    try family.write { connection in
      try connection.run(
        plan.insert, [.integer(2), .integer(Int64(plan.entity.discriminator ?? 0))])
    }
    #expect(try family.values("rank", of: "B") == [2: .null])
    #expect(try family.values("rank", of: "A") == [1: .integer(5)])
  }
}
