import Foundation
import SteadTransfer
import SwiftData
import Testing

/// Names that differ, and what has no place in the models.
@Suite struct CoreDataMappingTests {
  private static let system = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"

  /// Two entities of one table have an attribute of the same name, so one has a number behind it.
  private func shelf(_ more: String = "") throws -> CoreDataFixture {
    try CoreDataFixture(
      entities: [
        .init(1, "Item"), .init(2, "Volume", under: 1), .init(3, "Box", under: 1),
        .init(4, "Scrap"),
      ],
      """
      CREATE TABLE ZITEM (\(Self.system), ZNUMBER INTEGER, ZBOX INTEGER, Z3_BOX INTEGER,
        ZTITLE VARCHAR, ZTITLE1 VARCHAR, ZWEIGHT FLOAT);
      CREATE TABLE ZSCRAP (\(Self.system), ZOWNER INTEGER);
      INSERT INTO ZITEM VALUES (1, 3, 1, 11, NULL, NULL, NULL, 'box', NULL),
        (2, 2, 1, 12, 1, 3, 'book', NULL, 1.5);
      INSERT INTO ZSCRAP VALUES (1, 4, 1, 2);
      \(more)
      """)
  }

  private func container() throws -> ModelContainer {
    try memoryContainer(Storehouse.Box.self, Storehouse.Book.self)
  }

  private var mapping: CoreDataMapping {
    var mapping = CoreDataMapping()
    mapping.classes["Volume"] = "Book"
    mapping.storedNames["Box"] = ["title": "title1"]
    mapping.leftOut["Book"] = ["weight"]
    mapping.leftOutEntities = ["Scrap"]
    return mapping
  }

  @Test func `names that differ are mapped`() throws {
    let container = try container()
    let report = try shelf().importing(to: container, mapping: mapping).run()
    let context = ModelContext(container)
    let books = try context.fetch(FetchDescriptor<Storehouse.Book>())
    #expect(books.map(\.title) == ["book"] && books.map(\.number) == [12])
    #expect(books.first?.box?.title == "box" && books.first?.box?.number == 11)
    #expect(report.leftOutValues == ["Volume.ZWEIGHT": 1])
    #expect(
      report.entities == [
        .init(entity: "Box", className: "Box", rows: 1),
        .init(entity: "Item", className: "Item", rows: 0),
        .init(entity: "Scrap", className: nil, rows: 1),
        .init(entity: "Volume", className: "Book", rows: 1),
      ])
  }

  @Test func `values without a property keep all back`() throws {
    let (fixture, container) = (try shelf(), try container())
    var mapping = mapping
    mapping.leftOut = [:]
    mapping.storedNames = [:]
    let error = try transferError { try fixture.importing(to: container, mapping: mapping).run() }
    #expect(error.code == .unsupported)
    #expect(error.message.contains("Box.ZTITLE1 (1), Volume.ZWEIGHT (1)"))
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Storehouse.Item>()) == 0)
    mapping.leavesOutUnknown = true
    let report = try fixture.importing(to: container, mapping: mapping).run()
    #expect(report.leftOutValues == ["Box.ZTITLE1": 1, "Volume.ZWEIGHT": 1])
    #expect(report.transfer.moved == 2)
  }

  @Test func `an entity without a class keeps all back`() throws {
    let (fixture, container) = (try shelf(), try container())
    var mapping = mapping
    mapping.leftOutEntities = []
    let error = try transferError { try fixture.importing(to: container, mapping: mapping).run() }
    #expect(error.code == .notConverted && error.failures.map(\.item) == ["Scrap 1"])
  }

  @Test func `references to what is left out are counted`() throws {
    let (fixture, container) = (try shelf(), try container())
    var mapping = mapping
    mapping.leftOutEntities = ["Scrap", "Box"]
    mapping.storedNames = [:]
    let report = try fixture.importing(to: container, mapping: mapping).run()
    #expect(report.leftOutLinks == ["Book.box": 1] && report.transfer.moved == 1)
    let book = try ModelContext(container).fetch(FetchDescriptor<Storehouse.Book>()).first
    #expect(book?.title == "book" && book?.box == nil)
  }

  @Test func `pairs without a property keep all back`() throws {
    let fixture = try shelf(
      "CREATE TABLE Z_3SCRAPS (Z_3BOXES INTEGER, Z_4SCRAPS INTEGER);"
        + "INSERT INTO Z_3SCRAPS VALUES (1, 1);")
    let container = try container()
    var mapping = mapping
    let report = try fixture.importing(to: container, mapping: mapping).preview()
    #expect(report.leftOutValues["Z_3SCRAPS"] == 1)
    mapping.leftOutEntities = []
    let error = try transferError { try fixture.importing(to: container, mapping: mapping).run() }
    #expect(error.code == .unsupported && error.message.contains("Z_3SCRAPS (1)"))
  }

  @Test func `misspelt names are refused`() throws {
    let (fixture, container) = (try shelf(), try container())
    var wrong: [CoreDataMapping] = Array(repeating: mapping, count: 5)
    wrong[0].classes["Volum"] = "Book"
    wrong[1].classes["Volume"] = "Bok"
    wrong[2].storedNames["Box"] = ["titel": "title1"]
    wrong[3].leftOutEntities.insert("Scraps")
    wrong[4].leftOut["Boxes"] = ["weight"]
    for mapping in wrong {
      let error = try transferError { try fixture.importing(to: container, mapping: mapping).run() }
      #expect(error.code == .unsupported)
    }
  }
}
