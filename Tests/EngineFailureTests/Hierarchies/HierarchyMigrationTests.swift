import SteadSQLite

@testable import SteadRecords

/// A property that one class of a hierarchy lost, while another kept a property of that name, kept its values: they were
/// back in a later version that had the property again, took part in unique keys and in lists, and named files that
/// were gone.
@Suite("migrations of classes that share a column") struct HierarchyMigrationTests {
  private typealias Class = SketchedSchema.Class
  private typealias Field = SketchedSchema.Field
  private typealias Link = SketchedSchema.Link

  private let store: SketchedStore

  init() throws { store = SketchedStore(try RecordsTestSupport.StoreFile().url) }

  private func siblings(_ a: [Field], _ b: [Field], base: [Field] = []) -> SketchedSchema {
    SketchedSchema(
      Class(name: "Base", fields: base), Class(name: "A", parent: "Base", fields: a),
      Class(name: "B", parent: "Base", fields: b))
  }

  private static let note = Field(name: "note", defaultValue: "new")
  private static let required = Field(name: "note", type: String.self, defaultValue: "new")

  private func addNotes(_ old: RecordStore) throws {
    try old.add(1, of: "A", ["note": .text("a")])
    try old.add(2, of: "B", ["note": .text("b")])
  }

  @Test(arguments: [false, true])
  func `values of a removed property do not come back`(isRequired: Bool) throws {
    let note = isRequired ? Self.required : Self.note
    try addNotes(try store.open(siblings([note], [note])))
    let second = try store.open(siblings([note], []))
    #expect(try second.values("note", of: "B") == [2: .null])
    #expect(try second.values("note", of: "A") == [1: .text("a")])
    let third = try store.open(siblings([note], [note]))
    #expect(try third.values("note", of: "B") == [2: .text("new")])
    #expect(try third.values("note", of: "A") == [1: .text("a")])
  }

  @Test func `a superclass's property that moves to one class leaves the others`() throws {
    let base = siblings([], [], base: [Self.note])
    let old = try store.open(base)
    try addNotes(old)
    try old.add(3, of: "Base", ["note": .text("base")])
    let second = try store.open(siblings([Self.note], []))
    #expect(try second.values("note", of: "A") == [1: .text("a")])
    let third = try store.open(base)
    #expect(try third.values("note", of: "A") == [1: .text("a")])
    #expect(try third.values("note", of: "B") == [2: .text("new")])
    #expect(try third.values("note", of: "Base") == [3: .text("new")])
  }

  /// An earlier version of this library left the values there.
  @Test func `values that are left of an earlier migration are not those of a new property`() throws
  {
    let second = try store.open(siblings([Self.note], []))
    try second.add(1, of: "A", ["note": .text("a")])
    try second.add(2, of: "B", ["note": .text("left")])
    let third = try store.open(siblings([Self.note], [Self.note]))
    #expect(try third.values("note", of: "B") == [2: .text("new")])
    #expect(try third.values("note", of: "A") == [1: .text("a")])
  }

  /// Changes of all rows were recorded as those of the class that declares the property, under identifiers that no
  /// object has.
  @Test func `the history has a converted value as a change of its row's own class`() throws {
    func family(_ type: any Any.Type) -> SketchedSchema {
      siblings([], [], base: [Field(name: "size", type: type, defaultValue: nil)])
    }
    let old = try store.open(family(Int?.self))
    for (row, name) in [(1, "A"), (2, "B"), (3, "Base"), (4, "A")] {
      try old.add(Int64(row), of: name, ["size": .integer(Int64(row))])
    }
    let new = try store.open(
      family(Double?.self), role: .ofCustomStage,
      converting: [ValueConversion.Property(entity: "Base", name: "size")])
    #expect(try new.values("size", of: "A") == [1: .real(1), 4: .real(4)])
    let changes = try new.read(.newest) { connection, _ in
      try connection.rows("SELECT changes FROM stead_history ORDER BY number DESC LIMIT 1")
    }
    guard case .text(let text)? = changes.first?.first else {
      Issue.record("The history has no change.")
      return
    }
    for (name, rows) in [("A", "[1,1,4,1]"), ("B", "[2,1]"), ("Base", "[3,1]")] {
      #expect(text.contains("\"\(name)\",\(rows)"), "\(text)")
    }
  }

  // MARK: Relationships

  /// - Parameter lists: The lists of a holder with their inverses, by the class of their members.
  private func holders(
    _ lists: [String: String?], references: Set<String>, tags: Set<String> = []
  ) -> SketchedSchema {
    func member(_ name: String, parent: String?) -> Class {
      var links: [Link] = []
      if references.contains(name) {
        links.append(
          Link(
            name: "holder", destination: "Holder", inverse: lists[name]?.map { _ in "list\(name)" })
        )
      }
      if tags.contains(name) {
        links.append(Link(name: "tags", destination: "Holder", isMany: true))
      }
      return Class(name: name, parent: parent, links: links)
    }
    return SketchedSchema(
      member("Base", parent: nil), member("A", parent: "Base"), member("B", parent: "Base"),
      Class(
        name: "Holder",
        links: lists.sorted { $0.key < $1.key }.map {
          Link(name: "list\($0.key)", destination: $0.key, isMany: true, inverse: $0.value)
        }))
  }

  @Test func `objects that lose a reference leave the list of their siblings`() throws {
    let old = try store.open(
      holders(["A": "holder", "B": "holder"], references: ["A", "B"]))
    try old.add(1, of: "Holder")
    try old.add(1, of: "A", ["holder": .integer(1)])
    try old.add(2, of: "B", ["holder": .integer(1)])
    #expect(try old.members("listA", of: "Holder") == [1: [1]])
    #expect(try old.members("listB", of: "Holder") == [1: [2]])
    let second = try store.open(holders(["A": "holder"], references: ["A"]))
    #expect(try second.members("listA", of: "Holder") == [1: [1]])
    #expect(try second.values("holder", of: "B") == [2: .null])
  }

  @Test func `lists of siblings become one-way, and two-way again, each with its own members`()
    throws
  {
    let both: [String: String?] = ["A": "holder", "B": "holder"]
    let old = try store.open(holders(both, references: ["A", "B"]))
    try old.add(1, of: "Holder")
    for row in 1...4 {
      try old.add(Int64(row), of: row % 2 == 0 ? "B" : "A", ["holder": .integer(1)])
    }
    let second = try store.open(holders(["A": String?.none, "B": String?.none], references: []))
    #expect(try second.members("listA", of: "Holder") == [1: [1, 3]])
    #expect(try second.members("listB", of: "Holder") == [1: [2, 4]])
    let third = try store.open(holders(both, references: ["A", "B"]))
    #expect(try third.members("listA", of: "Holder") == [1: [1, 3]])
    #expect(try third.members("listB", of: "Holder") == [1: [2, 4]])
    #expect(try third.values("holder", of: "A") == [1: .integer(1), 3: .integer(1)])
  }

  @Test func `links in a table of pairs move between a superclass and its subclass`() throws {
    let old = try store.open(holders([:], references: [], tags: ["Base"]))
    try old.add(7, of: "Holder")
    try old.add(1, of: "A")
    try old.add(2, of: "B")
    for owner in 1...2 { try old.add(pair: Int64(owner), 7, of: "Base", "tags") }
    let down = try store.open(holders([:], references: [], tags: ["A"]))
    #expect(try down.members("tags", of: "A") == [1: [7]])
    let up = try store.open(holders([:], references: [], tags: ["Base"]))
    #expect(try up.members("tags", of: "A") == [1: [7]])
    #expect(try up.members("tags", of: "B") == [:])
  }
}
