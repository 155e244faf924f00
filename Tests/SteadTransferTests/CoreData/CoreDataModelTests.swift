import Foundation
import SwiftData
import Testing

@testable import SteadTransfer

/// Stores that keep their model, which tells the columns of structs apart.
@Suite struct CoreDataModelTests {
  private static let system = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"
  private static let columns =
    "ZID INTEGER, ZID1 INTEGER, ZID2 INTEGER, ZNAME VARCHAR, ZSTEPS BLOB, ZCITY VARCHAR, "
    + "ZSINCE TIMESTAMP, ZPLANNED VARCHAR, ZDONE VARCHAR"

  private static let trip: [ModelCache.Property] = [
    .attribute("id", 300),
    .composite("author", [.attribute("id", 300), .attribute("name", 700)]),
    .composite(
      "prep",
      [
        .attribute("id", 300), .attribute("steps", 1000),
        .composite("place", [.attribute("city", 700), .attribute("since", 900)]),
      ]),
    .composite("stage", [.attribute("planned", 700), .attribute("done", 700)]),
  ]

  /// A trip with the number 1, whose author has the number 70 and whose preparation has 900.
  private func trips(
    model: [ModelCache.Property]? = trip, columns: String = columns, _ more: String = ""
  ) throws -> CoreDataFixture {
    let cache = try model.map { try ModelCache.literal(["Trip": $0]) }
    return try CoreDataFixture(
      entities: [.init(1, "Trip")],
      """
      CREATE TABLE ZTRIP (\(Self.system), \(columns));
      INSERT INTO ZTRIP (Z_PK, Z_ENT, Z_OPT, ZID, ZID1, ZID2, ZNAME, ZSTEPS, ZCITY, ZSINCE, ZDONE)
        VALUES (1, 1, 1, 70, 1, 900, 'Ada', CAST('["pack","lock"]' AS BLOB), 'Rome', 1.5, 'done');
      \(cache.map { "INSERT INTO Z_MODELCACHE VALUES (\($0));" } ?? "")
      \(more)
      """)
  }

  private func refusal(_ fixture: CoreDataFixture, _ mapping: CoreDataMapping = .init()) throws
    -> TransferError
  {
    let container = try memoryContainer(Trips.Trip.self)
    let error = try transferError { try fixture.importing(to: container, mapping: mapping).run() }
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Trips.Trip>()) == 0)
    return error
  }

  /// Once `id` came from the author, whose column has the plain name.
  @Test func `a field named as a property is not taken for it`() throws {
    let container = try memoryContainer(Trips.Trip.self)
    let report = try trips().importing(to: container).run()
    let trip = try #require(try ModelContext(container).fetch(FetchDescriptor<Trips.Trip>()).first)
    #expect(trip.id == 1)
    #expect(trip.author == Trips.Author(id: 70, name: "Ada"))
    let place = Trips.Place(city: "Rome", since: Date(timeIntervalSinceReferenceDate: 1.5))
    #expect(trip.prep == Trips.Prep(id: 900, steps: ["pack", "lock"], place: place))
    #expect(trip.stage == .done)
    #expect(report.leftOutValues.isEmpty && report.missingProperties.isEmpty)
  }

  @Test func `without a model, the import refuses to guess`() throws {
    for more in ["", "INSERT INTO Z_MODELCACHE VALUES (x'00112233');"] {
      let error = try refusal(trips(model: nil, more))
      #expect(error.code == .unsupported && error.message.contains("not certain"), "\(error)")
    }
  }

  @Test func `without a model, the mapping tells`() throws {
    let container = try memoryContainer(Trips.Trip.self)
    var mapping = CoreDataMapping()
    mapping.storedNames["Trip"] = [
      "id": "id1", "author.id": "id", "author.name": "name", "prep.id": "id2",
      "prep.steps": "steps",
    ]
    mapping.leftOut["Trip"] = ["city", "since", "done"]
    try trips(model: nil, "UPDATE ZTRIP SET ZID2 = NULL, ZSTEPS = NULL;")
      .importing(to: container, mapping: mapping).run()
    let trip = try #require(try ModelContext(container).fetch(FetchDescriptor<Trips.Trip>()).first)
    #expect(trip.id == 1 && trip.author == Trips.Author(id: 70, name: "Ada"))
    mapping.storedNames["Trip"]?["id"] = "idd"
    #expect(try refusal(trips(model: nil), mapping).message.contains("idd"))
  }

  /// The rule of the numbers is not known to hold in these.
  @Test(arguments: [
    columns.replacing("ZID2 INTEGER", with: "ZID2 INTEGER, ZID3 INTEGER"),
    columns.replacing("ZID1 INTEGER", with: "ZID1 VARCHAR"),
  ])
  func `columns that the model does not explain are refused`(_ columns: String) throws {
    let error = try refusal(trips(columns: columns))
    #expect(error.code == .unsupported && error.message.contains("not certain"), "\(error)")
  }

  @Test func `a property that the model lacks takes no field's column`() throws {
    let container = try memoryContainer(Trips.Trip.self)
    let error = try transferError {
      try trips(model: Array(Self.trip.dropFirst())).importing(to: container).run()
    }
    #expect(error.code == .unsupported || error.code == .notConverted, "\(error)")
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Trips.Trip>()) == 0)
  }

  @Test(arguments: ["ZDONE = 'planned'", "ZPLANNED = 'planned'"])
  func `a case that is not certain is a failure`(_ change: String) throws {
    let error = try refusal(trips("UPDATE ZTRIP SET \(change);"))
    #expect(error.code == .notConverted && error.failures.map(\.item) == ["Trip 1"], "\(error)")
  }

  @Test func `the models of real stores are read`() throws {
    for (name, entity, attribute, type) in [
      ("SampleModel_V1", "Person", "id", CoreDataModel.AttributeType.uuid),
      ("SampleModel2_V2", "Book", "price", .decimal), ("SampleModel3_V1", "User", "name", .string),
    ] {
      let fixture = try CoreDataFixture(real: name)
      let store = try ForeignStore(copy: fixture.store)
      let model = try #require(try CoreDataCatalog(store).model, "\(name)")
      #expect(model.entities[entity]?.attribute(named: [attribute])?.type == type, "\(name)")
    }
  }

  // MARK: Values that are not there

  private func tickets(_ type: Int = 900) throws -> CoreDataFixture {
    let cache = try ModelCache.literal([
      "Ticket": [.attribute("code", 1100), .attribute("seats", 300), .attribute("day", type)]
    ])
    return try CoreDataFixture(
      entities: [.init(1, "Ticket")],
      """
      CREATE TABLE ZTICKET (\(Self.system), ZSEATS INTEGER, ZDAY TIMESTAMP, ZCODE BLOB);
      INSERT INTO ZTICKET VALUES (1, 1, 1, NULL, 5, NULL), (2, 1, 1, 7, 6, NULL),
        (3, 1, 1, 8, NULL, x'173EF01785514A76AD0719D8830FDC80');
      INSERT INTO Z_MODELCACHE VALUES (\(cache));
      """)
  }

  /// Once all rows without a value got one default, one UUID among them.
  @Test func `a default instead of no value must be accepted`() throws {
    let container = try memoryContainer(Trips.Ticket.self)
    let fixture = try tickets()
    let error = try transferError { try fixture.importing(to: container).run() }
    #expect(error.code == .unsupported)
    #expect(error.message.contains("Ticket.code (2), Ticket.seats (1)"), "\(error)")
    var mapping = CoreDataMapping()
    mapping.acceptsDefaults = true
    let report = try fixture.importing(to: container, mapping: mapping).run()
    #expect(report.defaultedValues == ["Ticket.code": 2, "Ticket.seats": 1])
    let tickets = try ModelContext(container).fetch(FetchDescriptor<Trips.Ticket>())
    #expect(Set(tickets.map(\.code)).count == 3)
    #expect(tickets.map(\.seats).sorted() == [1, 7, 8])
  }

  /// Seconds since 1970 would be taken for seconds since 2001.
  @Test func `a number is not taken for a date`() throws {
    let container = try memoryContainer(Trips.Ticket.self)
    let error = try transferError { try tickets(500).importing(to: container).run() }
    #expect(error.code == .unsupported && error.message.contains("dates"), "\(error)")
  }

  // MARK: Files that are not there

  @Test func `a log that is missing or cut is warned of`() throws {
    let fixture = try CoreDataFixture(real: "SampleModel3_V1")
    try fixture.run("PRAGMA journal_mode = WAL;")
    let writer = try WorkerProcess(["sqlite3", "-bail", fixture.store.filePath])
    #expect(writer.tell("UPDATE ZUSER SET Z_OPT = 9;\nSELECT 'done';"))
    while let line = writer.line(), line != "done" {}
    writer.end()
    let log = URL(filePath: fixture.store.filePath + "-wal")
    let snapshot = { try CoreDataSnapshot(of: fixture.store.filePath).warning }
    #expect(try snapshot() == nil)
    let bytes = try Data(contentsOf: log)
    for count in [bytes.count - 1, bytes.count / 2, 40, 10] {
      try bytes.prefix(count).write(to: log)
      #expect(try snapshot()?.contains("cut off") == true, "\(count) of \(bytes.count)")
    }
    try FileManager.default.removeItem(at: log)
    #expect(try snapshot()?.contains("not next to it") == true)
    try fixture.run("PRAGMA journal_mode = DELETE;")
    #expect(try snapshot() == nil)
  }

  @Test func `an import runs in the background`() async throws {
    let fixture = try CoreDataFixture(real: "SampleModel_V1")
    let container = try memoryContainer(CarsV1.ExpensiveSportCar.self, CarsV1.Person.self)
    let report = try await fixture.importing(to: container).transfer.runInBackground()
    #expect(report.transfer.moved == 145)
  }
}
