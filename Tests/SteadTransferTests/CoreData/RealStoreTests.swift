import Foundation
import SteadTransfer
import SwiftData
import Testing

/// Stores that Apple's Core Data wrote, against what the `sqlite3` tool says of them.
@Suite struct RealStoreTests {
  private func hexadecimal(_ data: Data?) -> String {
    data.map { $0.map { String(format: "%02X", $0) }.joined() } ?? ""
  }

  private func hexadecimal(_ uuid: UUID) -> String {
    uuid.uuidString.replacing("-", with: "")
  }

  /// All digits, as the tool is told to write them.
  private func digits(_ date: Date?) -> String {
    date.map { String(format: "%.17g", $0.timeIntervalSinceReferenceDate) } ?? ""
  }

  @Test func `every car and person comes over`() throws {
    let fixture = try CoreDataFixture(real: "SampleModel_V1")
    let before = try fixture.state()
    let container = try memoryContainer(CarsV1.ExpensiveSportCar.self, CarsV1.Person.self)
    let report = try fixture.importing(to: container).run()
    #expect(try fixture.state() == before)

    let context = ModelContext(container)
    let cars = try context.fetch(FetchDescriptor<CarsV1.Car>())
    let told = cars.map { car in
      let flag = (car as? CarsV1.ExpensiveSportCar).map { $0.isLimitedEdition ? "1" : "0" } ?? ""
      return [
        "\(type(of: car))", car.maker ?? "", car.model ?? "", car.numberPlate,
        digits(car.markedForDeletionAsOf), hexadecimal(car.color), flag,
        car.owner.map { hexadecimal($0.id) } ?? "",
      ].joined(separator: "|")
    }
    let wanted = try fixture.lines(
      """
      SELECT k.Z_NAME, ifnull(c.ZMAKER, ''), ifnull(c.ZMODEL, ''), c.ZNUMBERPLATE,
        iif(c.ZMARKEDFORDELETIONASOF IS NULL, '', printf('%!.17g', c.ZMARKEDFORDELETIONASOF)), hex(c.ZCOLOR),
        CASE k.Z_NAME WHEN 'ExpensiveSportCar' THEN c.ZISLIMITEDEDITION ELSE '' END,
        ifnull(hex(p.ZID), '') FROM ZCAR c JOIN Z_PRIMARYKEY k ON k.Z_ENT = c.Z_ENT
        LEFT JOIN ZPERSON p ON p.Z_PK = c.ZOWNER
      """)
    #expect(wanted.count == 125)
    #expect(told.sorted() == wanted.sorted())
    try checkPersons(fixture, context)

    #expect(report.transfer.moved == 145)
    #expect(
      report.entities == [
        .init(entity: "Car", className: "Car", rows: 115),
        .init(entity: "ExpensiveSportCar", className: "ExpensiveSportCar", rows: 5),
        .init(entity: "Person", className: "Person", rows: 20),
        .init(entity: "SportCar", className: "SportCar", rows: 5),
      ])
    #expect(report.storeIdentifier == "753753D3-A961-4901-AB05-8CC48B1D3853")
    #expect(report.leftOutValues.isEmpty && report.danglingLinks.isEmpty)
  }

  private func checkPersons(_ fixture: CoreDataFixture, _ context: ModelContext) throws {
    let persons = try context.fetch(FetchDescriptor<CarsV1.Person>()).map { person in
      let plates = person.cars.map(\.numberPlate).sorted().joined(separator: ",")
      return [
        hexadecimal(person.id), person.firstName ?? "", person.lastName ?? "",
        digits(person.updatedAt), plates,
      ].joined(separator: "|")
    }
    let wanted = try fixture.lines(
      """
      SELECT hex(ZID), ifnull(ZFIRSTNAME, ''), ifnull(ZLASTNAME, ''), printf('%!.17g', ZUPDATEDAT),
        ifnull((SELECT group_concat(ZNUMBERPLATE) FROM
          (SELECT ZNUMBERPLATE FROM ZCAR WHERE ZOWNER = p.Z_PK ORDER BY ZNUMBERPLATE)), '')
        FROM ZPERSON p
      """)
    #expect(wanted.count == 20)
    #expect(persons.sorted() == wanted.sorted())
  }

  /// Its entity was renamed by a migration, and `Z_PRIMARYKEY` has the old name.
  @Test func `every row of a migrated store comes over`() throws {
    let fixture = try CoreDataFixture(real: "SampleModel_V2")
    let container = try memoryContainer(CarsV2.LuxuryCar.self, CarsV2.Person.self)
    let report = try fixture.importing(to: container).run()
    let context = ModelContext(container)
    let cars = try context.fetch(FetchDescriptor<CarsV2.Car>()).map { car in
      let flag = (car as? CarsV2.LuxuryCar).map { $0.isLimitedEdition ? "1" : "0" } ?? ""
      return [
        "\(type(of: car))", car.maker ?? "", car.model ?? "", car.numberPlate, flag,
        digits(car.owner?.updatedAt),
      ].joined(separator: "|")
    }
    let wanted = try fixture.lines(
      """
      SELECT CASE c.Z_ENT WHEN 3 THEN 'LuxuryCar' ELSE k.Z_NAME END, ifnull(c.ZMAKER, ''),
        ifnull(c.ZMODEL, ''), c.ZNUMBERPLATE, CASE c.Z_ENT WHEN 3 THEN c.ZISLIMITEDEDITION ELSE '' END,
        iif(p.ZUPDATEDAT IS NULL, '', printf('%!.17g', p.ZUPDATEDAT)) FROM ZCAR c
        JOIN Z_PRIMARYKEY k ON k.Z_ENT = c.Z_ENT LEFT JOIN ZPERSON p ON p.Z_PK = c.ZOWNER
      """)
    #expect(wanted.count == 125)
    #expect(cars.sorted() == wanted.sorted())
    #expect(try context.fetchCount(FetchDescriptor<CarsV2.Person>()) == 20)
    #expect(
      try report.links["Person.cars"] == fixture.number("SELECT count(ZOWNER) FROM ZCAR"))
  }

  @Test func `every book, page and feedback comes over`() throws {
    let fixture = try CoreDataFixture(real: "SampleModel2_V2")
    let before = try fixture.state()
    let container = try memoryContainer(
      Library.Author.self, Library.GraphicNovel.self, Library.Page.self, Library.Feedback.self)
    let report = try fixture.importing(to: container).run()
    #expect(try fixture.state() == before)
    let context = ModelContext(container)
    try checkBooks(fixture, context)
    try checkPages(fixture, context)
    let feedbacks = try context.fetch(FetchDescriptor<Library.Feedback>()).map {
      "\($0.rating)|\($0.authorAlias)|\($0.comment ?? "")|\(hexadecimal($0.bookID))"
    }
    #expect(
      try feedbacks.sorted()
        == fixture.lines(
          "SELECT ZRATING, ZAUTHORALIAS, ZCOMMENT, hex(ZBOOKID) FROM ZFEEDBACK"
        ).sorted())
    let authors = try context.fetch(FetchDescriptor<Library.Author>())
    #expect(authors.map(\.alias) == ["Alessandro"] && authors.map(\.age) == [40])
    #expect(authors.first?.books.count == 3)

    #expect(report.transfer.moved == 126)
    #expect(report.skippedTables == ["ACHANGE": 126, "ATRANSACTION": 1, "ATRANSACTIONSTRING": 2])
    // Objects of the app's own classes come over as the archives that they are.
    #expect(report.archives == ["Book.cover": 2, "GraphicNovel.cover": 1, "Page.content": 119])
  }

  private func checkBooks(_ fixture: CoreDataFixture, _ context: ModelContext) throws {
    let books = try context.fetch(FetchDescriptor<Library.Book>()).map { book in
      let flag = (book as? Library.GraphicNovel).map { $0.isBlackAndWhite ? "1" : "0" } ?? ""
      return [
        "\(type(of: book))", book.title, "\(book.price)", digits(book.publishedAt),
        hexadecimal(book.uniqueID), hexadecimal(book.cover), "\(book.pagesCount ?? -1)", flag,
        book.author?.alias ?? "", "\(book.pages.count)",
      ].joined(separator: "|")
    }
    let wanted = try fixture.lines(
      """
      SELECT k.Z_NAME, b.ZTITLE, b.ZPRICE, printf('%!.17g', b.ZPUBLISHEDAT), hex(b.ZUNIQUEID),
        hex(b.ZFRONTCOVER), b.ZPAGESCOUNT,
        CASE k.Z_NAME WHEN 'GraphicNovel' THEN b.ZISBLACKANDWHITE ELSE '' END, w.ZALIAS,
        (SELECT count(*) FROM ZPAGE WHERE ZBOOK = b.Z_PK) FROM ZBOOK b
        JOIN Z_PRIMARYKEY k ON k.Z_ENT = b.Z_ENT JOIN ZWRITER w ON w.Z_PK = b.ZAUTHOR
      """)
    #expect(wanted.count == 3)
    #expect(books.sorted() == wanted.sorted())
  }

  private func checkPages(_ fixture: CoreDataFixture, _ context: ModelContext) throws {
    let pages = try context.fetch(FetchDescriptor<Library.Page>()).map { page in
      [
        "\(page.number)", page.isBookmarked ? "1" : "0", hexadecimal(page.content),
        page.book.map { hexadecimal($0.uniqueID) } ?? "",
      ].joined(separator: "|")
    }
    let wanted = try fixture.lines(
      "SELECT ZNUMBER, ZISBOOKMARKED, hex(ZCONTENT), hex(ZUNIQUEID) FROM ZPAGE p "
        + "JOIN ZBOOK b ON b.Z_PK = p.ZBOOK")
    #expect(wanted.count == 119)
    #expect(pages.sorted() == wanted.sorted())
  }

  @Test func `every user comes over`() throws {
    let fixture = try CoreDataFixture(real: "SampleModel3_V1")
    let container = try memoryContainer(Pets.User.self)
    let preview = try fixture.importing(to: container).preview()
    #expect(preview.transfer.isPreview && preview.transfer.moved == 12)
    let context = ModelContext(container)
    #expect(try context.fetchCount(FetchDescriptor<Pets.User>()) == 0)
    try fixture.importing(to: container).run()
    let users = try context.fetch(FetchDescriptor<Pets.User>()).map {
      "\($0.name)|\($0.petName ?? "")"
    }
    #expect(try users.sorted() == fixture.lines("SELECT ZNAME, ZPETNAME FROM ZUSER").sorted())
    #expect(users.count == 12)
  }

  @Test func `a second run moves nothing`() throws {
    let fixture = try CoreDataFixture(real: "SampleModel_V1")
    let container = try memoryContainer(CarsV1.ExpensiveSportCar.self, CarsV1.Person.self)
    try fixture.importing(to: container).run()
    let second = try fixture.importing(to: container).run()
    #expect(second.transfer.moved == 0 && second.transfer.alreadyMoved == 145)
    #expect(second.transfer.outcome == .nothingToDo)
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<CarsV1.Car>()) == 125)
  }

  /// Each start of an app copied the whole store.
  @Test func `a store that has not changed is not read`() throws {
    let fixture = try CoreDataFixture(real: "SampleModel_V1")
    let container = try memoryContainer(CarsV1.ExpensiveSportCar.self, CarsV1.Person.self)
    func phases() throws -> Set<TransferProgress.Phase> {
      var phases: Set<TransferProgress.Phase> = []
      let report = try fixture.importing(to: container).transfer.run {
        phases.insert($0.phase)
      }
      #expect(report.storeIdentifier.count == 36 && report.transfer.failures.isEmpty)
      return phases
    }
    #expect(try phases().contains(.reading))
    // Files that were written a moment ago count from the second run on.
    _ = try phases()
    #expect(try phases().isEmpty)
    let report = try fixture.importing(to: container).run()
    #expect(report.transfer.alreadyMoved == 145 && report.transfer.outcome == .nothingToDo)
    try ToolRun.text([
      "sqlite3", fixture.store.filePath, "UPDATE ZPERSON SET Z_OPT = Z_OPT + 1 WHERE Z_PK = 1",
    ])
    #expect(try phases().contains(.reading))
  }
}
