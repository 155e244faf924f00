import Foundation
import SteadTestSupport
import SwiftData
import Testing

@Suite("A campus of fifty models") struct CampusTests {
  private func container() throws -> ModelContainer {
    try ModelContainer(
      for: Schema(CampusSchema.all), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  private func filled(_ container: ModelContainer) throws -> ModelContext {
    let context = ModelContext(container)
    let address = StreetAddress(
      street: "Quay 1", postcode: "4000", city: "Basel",
      location: Coordinate(latitude: 47.5, longitude: 7.6))
    let campus = Campus(name: "Rhine", founded: 1460, address: address)
    context.insert(campus)
    fillPeople(campus)
    fillPlaces(campus)
    try context.save()
    return context
  }

  private func fillPeople(_ campus: Campus) {
    let physics = Department(name: "Physics", abbreviation: "PHY")
    campus.departments = [physics]
    let ada = Teacher(
      number: 1, givenName: "Ada", familyName: "Arbor", salary: 90_000, subject: "Optics")
    physics.teachers = [ada]
    let optics = Course(title: "Optics", credits: 6)
    let waves = Course(title: "Waves", credits: 4)
    physics.courses = [optics, waves]
    optics.prerequisites = [waves]
    let term = Term(name: "Spring", starts: .distantPast, ends: .distantFuture)
    campus.terms = [term]
    let chess = SportsTeam(name: "Knights")
    campus.teams = [chess]
    for number in 10..<40 {
      let student = Student(
        number: number, givenName: "Student", familyName: "\(number)", enrolledIn: 2020 + number % 5
      )
      campus.people.append(student)
      let enrollment = Enrollment()
      enrollment.student = student
      enrollment.course = number % 3 == 0 ? waves : optics
      enrollment.term = term
      enrollment.grade = Double(number % 6)
      if number % 10 == 0 { chess.players.append(student) }
    }
    campus.people += [
      ada, Administrator(number: 2, givenName: "Bo", familyName: "Berg", duties: ["keys", "mail"]),
    ]
  }

  private func fillPlaces(_ campus: Campus) {
    let hall = Building(name: "Hall", code: "H")
    campus.buildings = [hall]
    hall.rooms = (1...5).map { Room(number: $0) }
    hall.rooms[0].devices = [Device(hostname: "h1", kind: .computer(cores: 8))]
    campus.devices = hall.rooms[0].devices
    let lab = Laboratory(name: "Laser")
    lab.hazards = [.laser, .noise]
    lab.instruments = [Instrument(serial: "L-1")]
    campus.laboratories = [lab]
    let menu = Menu(day: Date(timeIntervalSinceReferenceDate: 0))
    menu.dishes = [Dish(name: "Soup", price: 4.5), Dish(name: "Stew", price: 9)]
    let canteen = Cafeteria(name: "Canteen")
    canteen.menus = [menu]
    campus.cafeterias = [canteen]
    let invoice = Invoice(number: 7, total: 30)
    invoice.lines = [InvoiceLine(text: "Chalk", price: 30)]
    campus.invoices = [invoice]
  }

  @Test func `the schema holds fifty models and a hub`() throws {
    let schema = Schema(versionedSchema: CampusSchema.self)
    #expect(schema.entities.count >= 50)
    let hub = try #require(schema.entitiesByName["Campus"])
    #expect(hub.relationships.count >= 30)
    #expect(hub.relationships.allSatisfy { $0.inverseName == "campus" || $0.inverseName == nil })
    #expect(schema.entitiesByName["Teacher"]?.superentity?.name == "Employee")
    #expect(schema.entitiesByName["Employee"]?.superentity?.name == "Person")
    #expect(
      schema.entitiesByName["Enrollment"]?.uniquenessConstraints == [["student", "course", "term"]])
  }

  @Test func `people of all kinds are fetched together`() throws {
    let context = ModelContext(try filled(container()).container)
    let byNumber = FetchDescriptor<Person>(sortBy: [SortDescriptor(\.number)])
    let people = try context.fetch(byNumber)
    #expect(people.count == 32)
    #expect(people[0] is Teacher)
    #expect((people[1] as? Administrator)?.duties == ["keys", "mail"])
    #expect(try context.fetchCount(FetchDescriptor<Employee>()) == 2)
    #expect(try context.fetchCount(FetchDescriptor<Student>()) == 30)
    let recent = FetchDescriptor<Student>(
      predicate: #Predicate { $0.enrolledIn >= 2023 && $0.campus?.name == "Rhine" })
    #expect(try context.fetchCount(recent) == 12)
    #expect((people[0] as? Teacher)?.department?.campus?.address.city == "Basel")
  }

  @Test func `compound keys are kept unique`() throws {
    let context = try filled(container())
    let student = try #require(
      try context.fetch(FetchDescriptor<Student>(predicate: #Predicate { $0.number == 10 })).first)
    let before = try context.fetchCount(FetchDescriptor<Enrollment>())
    let again = Enrollment()
    again.grade = 5.5
    context.insert(again)
    again.student = student
    again.course = student.enrollments[0].course
    again.term = student.enrollments[0].term
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Enrollment>()) == before)
    #expect(student.enrollments.count == 1)
    #expect(student.enrollments.first?.grade == 5.5)
    // The same number in the same building, once more.
    let hall = try #require(try context.fetch(FetchDescriptor<Building>()).first)
    let room = Room(number: 1)
    room.seats = 99
    hall.rooms.append(room)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Room>()) == 5)
    #expect(hall.rooms.count == 5)
    #expect(hall.rooms.contains { $0.number == 1 && $0.seats == 99 })
  }

  @Test func `queries go across many models`() throws {
    let context = ModelContext(try filled(container()).container)
    let graded = FetchDescriptor<Student>(
      predicate: #Predicate { student in
        student.enrollments.contains { ($0.grade ?? 0) >= 5 && $0.course?.title == "Optics" }
      }, sortBy: [SortDescriptor(\.number)])
    #expect(try context.fetch(graded).map(\.number) == [11, 17, 23, 29, 35])
    let followUps = FetchDescriptor<Course>(
      predicate: #Predicate { $0.prerequisites.contains { $0.title == "Waves" } })
    #expect(try context.fetch(followUps).map(\.title) == ["Optics"])
    let waves = FetchDescriptor<Course>(predicate: #Predicate { $0.title == "Waves" })
    #expect(try context.fetch(waves).first?.followUps.map(\.title) == ["Optics"])
    let price = Decimal(5)
    let cheap = FetchDescriptor<Dish>(predicate: #Predicate { $0.price < price })
    #expect(try context.fetch(cheap).map(\.name) == ["Soup"])
    let basel = FetchDescriptor<Campus>(predicate: #Predicate { $0.address.city == "Basel" })
    #expect(try context.fetch(basel).first?.laboratories.first?.hazards == [.laser, .noise])
    let device = try #require(try context.fetch(FetchDescriptor<Device>()).first)
    #expect(device.kind == .computer(cores: 8))
    #expect(device.room?.number == 1)
  }

  @Test func `the hub takes everything along except what refuses`() throws {
    let container = try container()
    _ = try filled(container)
    let context = ModelContext(container)
    let campus = try #require(try context.fetch(FetchDescriptor<Campus>()).first)
    context.delete(campus)
    #expect(throws: SwiftDataError.deletionDenied) { try context.save() }
    context.rollback()
    #expect(campus.people.count == 32)
    for term in campus.terms { context.delete(term) }
    context.delete(campus)
    try context.save()
    func count<T: PersistentModel>(_ type: T.Type) throws -> Int {
      try ModelContext(container).fetchCount(FetchDescriptor<T>())
    }
    #expect(try count(Campus.self) == 0)
    #expect(try count(Person.self) == 0)
    #expect(try count(Enrollment.self) == 0)
    #expect(try count(Room.self) == 0)
    #expect(try count(Device.self) == 0)
    #expect(try count(Dish.self) == 0)
    #expect(try count(InvoiceLine.self) == 0)
    #expect(try count(Instrument.self) == 0)
    // Courses belong to their department, which went.
    #expect(try count(Course.self) == 0)
  }

  @Test func `a store on file keeps it all`() throws {
    let directory = try TemporaryDirectory()
    let configuration = ModelConfiguration(url: directory.file("campus.store"))
    func open() throws -> ModelContainer {
      try ModelContainer(
        for: Schema(versionedSchema: CampusSchema.self), configurations: configuration)
    }
    do { _ = try filled(open()) }
    let context = ModelContext(try open())
    let campus = try #require(try context.fetch(FetchDescriptor<Campus>()).first)
    #expect(campus.people.count == 32)
    #expect(campus.departments.first?.courses.map(\.title) == ["Optics", "Waves"])
    #expect(campus.teams.first?.players.map(\.number) == [10, 20, 30])
    #expect(campus.cafeterias.first?.menus.first?.dishes.map(\.price) == [4.5, 9])
    #expect(campus.address.location == Coordinate(latitude: 47.5, longitude: 7.6))
  }
}
