import Foundation
import SwiftData
import Testing

@Suite("fetch") struct FetchTests {
  private func filled(_ place: StorePlace) throws -> TestStore {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let (chess, go) = (Club(name: "Chess", city: "Bern"), Club(name: "Go"))
    let rows: [(String, Int, String?, Club?)] = [
      ("Ann", 30, "A", chess), ("Bob", 20, nil, go), ("Cid", 30, "C", nil), ("Dan", 40, nil, chess),
      ("Eve", 20, "E", go),
    ]
    for (name, age, nickname, club) in rows {
      context.insert(Member(name: name, age: age, nickname: nickname, club: club))
    }
    try context.save()
    return store
  }

  private func names(
    _ store: TestStore, _ sortBy: [SortDescriptor<Member>], _ predicate: Predicate<Member>? = nil
  ) throws -> String {
    try store.context().fetch(FetchDescriptor(predicate: predicate, sortBy: sortBy))
      .map(\.name).joined(separator: " ")
  }

  private func matching(_ store: TestStore, _ predicate: Predicate<Member>) throws -> String {
    let result = try names(store, [SortDescriptor(\.name)], predicate)
    #expect(
      try store.context().fetchCount(FetchDescriptor(predicate: predicate))
        == result.split(separator: " ").count)
    return result
  }

  @Test(arguments: StorePlace.allCases)
  func `F1 several sort descriptors, each in its direction`(_ place: StorePlace) throws {
    let store = try filled(place)
    #expect(try names(store, [SortDescriptor(\.name)]) == "Ann Bob Cid Dan Eve")
    #expect(try names(store, [SortDescriptor(\.name, order: .reverse)]) == "Eve Dan Cid Bob Ann")
    #expect(
      try names(store, [SortDescriptor(\.age), SortDescriptor(\.name, order: .reverse)])
        == "Eve Bob Cid Ann Dan")
    #expect(
      try names(store, [SortDescriptor(\.age, order: .reverse), SortDescriptor(\.name)])
        == "Dan Ann Cid Bob Eve")
  }

  @Test(arguments: StorePlace.allCases)
  func `F1 optional and relationship key paths, nil first`(_ place: StorePlace) throws {
    let store = try filled(place)
    #expect(
      try names(store, [SortDescriptor(\.nickname), SortDescriptor(\.name)])
        == "Bob Dan Ann Cid Eve")
    #expect(
      try names(store, [SortDescriptor(\.nickname, order: .reverse), SortDescriptor(\.name)])
        == "Eve Cid Ann Bob Dan")
    #expect(
      try names(store, [SortDescriptor(\.club?.name), SortDescriptor(\.name)])
        == "Cid Ann Dan Bob Eve")
    #expect(
      try names(store, [SortDescriptor(\.club?.city), SortDescriptor(\.name)])
        == "Bob Cid Eve Ann Dan")
  }

  @Test(arguments: StorePlace.allCases)
  func `F1 text sorts as Swift compares it`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let texts = ["b", "B", "a", "A", "é", "e\u{301}x", "z", "10", "9", "", "\u{1F600}", "ﬁ"]
    for text in texts { context.insert(Member(name: text)) }
    try context.save()
    for order in [SortOrder.forward, .reverse] {
      let lexical = SortDescriptor<Member>(\.name, comparator: .lexical, order: order)
      let members = try store.reopened().fetch(FetchDescriptor(sortBy: [lexical]))
      let expected = texts.map { Member(name: $0) }.sorted(using: lexical)
      #expect(members.map(\.name) == expected.map(\.name))
      let plain = SortDescriptor<Member>(\.name, order: order)
      let again = try store.reopened().fetch(FetchDescriptor(sortBy: [plain]))
      #expect(again.map(\.name) == texts.map { Member(name: $0) }.sorted(using: plain).map(\.name))
    }
  }

  @Test(arguments: StorePlace.allCases)
  func `F2 limit and offset`(_ place: StorePlace) throws {
    let store = try filled(place)
    let context = store.context()
    var descriptor = FetchDescriptor<Member>(sortBy: [SortDescriptor(\.name)])
    descriptor.fetchLimit = 2
    #expect(try context.fetch(descriptor).map(\.name) == ["Ann", "Bob"])
    #expect(try context.fetchCount(descriptor) == 2)
    descriptor.fetchOffset = 4
    #expect(try context.fetch(descriptor).map(\.name) == ["Eve"])
    #expect(try context.fetchCount(descriptor) == 1)
    #expect(try context.fetchIdentifiers(descriptor).count == 1)
    descriptor.fetchLimit = nil
    descriptor.fetchOffset = 3
    #expect(try context.fetch(descriptor).map(\.name) == ["Dan", "Eve"])
    descriptor.fetchOffset = 9
    #expect(try context.fetch(descriptor).isEmpty)
    #expect(try context.fetchCount(FetchDescriptor<Member>()) == 5)
    descriptor = FetchDescriptor(predicate: #Predicate { $0.age > 20 })
    descriptor.fetchLimit = 1
    #expect(try context.fetch(descriptor).count == 1)
  }

  @Test(arguments: StorePlace.allCases)
  func `F3 constants and captured values`(_ place: StorePlace) throws {
    let store = try filled(place)
    #expect(try matching(store, .true) == "Ann Bob Cid Dan Eve")
    #expect(try matching(store, .false) == "")
    #expect(try matching(store, #Predicate { _ in true }) == "Ann Bob Cid Dan Eve")
    let (age, name) = (30, "Ann")
    #expect(try matching(store, #Predicate { $0.age == age }) == "Ann Cid")
    #expect(try matching(store, #Predicate { $0.name == name || $0.age < age }) == "Ann Bob Eve")
    let none: String? = nil
    #expect(try matching(store, #Predicate { $0.nickname == none }) == "Bob Dan")
  }

  @Test(arguments: StorePlace.allCases)
  func `F3 captured models and identifiers`(_ place: StorePlace) throws {
    let store = try filled(place)
    let context = store.context()
    let club = try context.fetch(
      FetchDescriptor<Club>(predicate: #Predicate { $0.name == "Chess" }))[0]
    let id = club.persistentModelID
    let byIdentifier = FetchDescriptor<Member>(
      predicate: #Predicate { $0.club?.persistentModelID == id }, sortBy: [SortDescriptor(\.name)])
    #expect(try context.fetch(byIdentifier).map(\.name) == ["Ann", "Dan"])
    let ids = try context.fetchIdentifiers(
      FetchDescriptor<Member>(sortBy: [SortDescriptor(\.name)]))
    let own = FetchDescriptor<Club>(predicate: #Predicate { $0.persistentModelID == id })
    #expect(try context.fetch(own).first === club)
    let some = Set(ids[1...2])
    #expect(try matching(store, #Predicate { some.contains($0.persistentModelID) }) == "Bob Cid")
  }

  @Test(arguments: StorePlace.allCases)
  func `F3 captured arrays of any length`(_ place: StorePlace) throws {
    let store = try filled(place)
    for count in [0, 1, 10_000] {
      let ages = Array(30..<(30 + count))
      let expected = count == 0 ? "" : count == 1 ? "Ann Cid" : "Ann Cid Dan"
      #expect(try matching(store, #Predicate { ages.contains($0.age) }) == expected)
    }
    let names = (0..<10_000).map { "Member \($0)" } + ["Bob", "Eve"]
    #expect(try matching(store, #Predicate { names.contains($0.name) }) == "Bob Eve")
    #expect(try matching(store, #Predicate { !names.contains($0.name) }) == "Ann Cid Dan")
  }

  @Test(arguments: StorePlace.allCases)
  func `F4 nil compares as in Swift`(_ place: StorePlace) throws {
    let store = try filled(place)
    #expect(try matching(store, #Predicate { $0.nickname != "A" }) == "Bob Cid Dan Eve")
    #expect(try matching(store, #Predicate { !($0.nickname == "A") }) == "Bob Cid Dan Eve")
    #expect(try matching(store, #Predicate { $0.nickname == nil }) == "Bob Dan")
    #expect(try matching(store, #Predicate { $0.nickname != nil }) == "Ann Cid Eve")
    #expect(try matching(store, #Predicate { $0.club?.name == nil }) == "Cid")
    #expect(try matching(store, #Predicate { $0.club?.name != "Go" }) == "Ann Cid Dan")
    #expect(try matching(store, #Predicate { $0.club?.city == nil }) == "Bob Cid Eve")
    #expect(try matching(store, #Predicate { $0.club?.city != "Bern" }) == "Bob Cid Eve")
    #expect(
      try matching(store, #Predicate { !($0.club?.city == "Bern" && $0.age > 30) })
        == "Ann Bob Cid Eve")
    #expect(try matching(store, #Predicate { ($0.nickname ?? "Z") > "D" }) == "Bob Dan Eve")
  }

  @Test(arguments: StorePlace.allCases)
  func `F5 equality is Swift's: case sensitive, canonically equivalent`(_ place: StorePlace) throws
  {
    let store = try TestStore.clubs(place)
    let context = store.context()
    for text in ["caf\u{E9}", "cafe\u{301}", "CAFÉ", "cafe", "Zürich"] {
      context.insert(Member(name: text))
    }
    try context.save()
    let accented = "caf\u{E9}"
    #expect(
      try context.fetchCount(FetchDescriptor<Member>(predicate: #Predicate { $0.name == accented }))
        == 2)
    #expect(
      try context.fetchCount(FetchDescriptor<Member>(predicate: #Predicate { $0.name != accented }))
        == 3)
    #expect(
      try context.fetchCount(
        FetchDescriptor<Member>(predicate: #Predicate { $0.name.contains("af\u{E9}") })) == 2)
    let wanted = ["cafe\u{301}", "zürich"]
    #expect(
      try context.fetchCount(
        FetchDescriptor<Member>(predicate: #Predicate { wanted.contains($0.name) })) == 2)
  }

  @Test(arguments: StorePlace.allCases)
  func `F5 localizedStandardContains ignores case and diacritics`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    for text in ["caf\u{E9}", "cafe\u{301}", "CAFÉ", "Straße", "ﬁsh", "İstanbul"] {
      context.insert(Member(name: text, nickname: text.count > 5 ? text : nil))
    }
    try context.save()
    func count(_ predicate: Predicate<Member>) throws -> Int {
      try store.context().fetchCount(FetchDescriptor(predicate: predicate))
    }
    #expect(try count(#Predicate { $0.name.localizedStandardContains("cafe") }) == 3)
    #expect(try count(#Predicate { $0.name.localizedStandardContains("AFÉ") }) == 3)
    #expect(try count(#Predicate { $0.name.localizedStandardContains("istan") }) == 1)
    #expect(try count(#Predicate { !$0.name.localizedStandardContains("c") }) == 3)
    #expect(
      try count(#Predicate { $0.nickname?.localizedStandardContains("STRASSE") == true }) <= 1)
    #expect(try count(#Predicate { $0.nickname?.localizedStandardContains("tan") == true }) == 1)
  }

  @Test(arguments: StorePlace.allCases)
  func `F6 enums, Bool, URL, UUID and dates in predicates`(_ place: StorePlace) throws {
    let store = try TestStore(place, Composites.self, Scalars.self)
    let context = store.context()
    for mood in Mood.allCases {
      let model = Composites(mood: mood)
      model.rank = mood == .happy ? .high : .low
      context.insert(model)
    }
    let site = try #require(URL(string: "https://example.com"))
    let id = UUID()
    let now = Date(timeIntervalSinceReferenceDate: 1_000)
    context.insert(
      Scalars(ScalarValues(flag: false, int: 6, date: now, uuid: id, url: site)))
    context.insert(Scalars(ScalarValues(int: 7, date: now.addingTimeInterval(1))))
    try context.save()

    let reader = try store.reopened()
    let happy = Mood.happy
    func count(_ predicate: Predicate<Composites>) throws -> Int {
      try reader.fetchCount(FetchDescriptor(predicate: predicate))
    }
    #expect(try count(#Predicate { $0.mood == happy }) == 1)
    #expect(try count(#Predicate { $0.mood != happy }) == 2)
    #expect(try count(#Predicate { $0.mood.rawValue == "calm" }) == 1)
    #expect(try count(#Predicate { $0.rank.rawValue > 1 }) == 1)
    let moods = [Mood.calm, .angry]
    #expect(try count(#Predicate { moods.contains($0.mood) }) == 2)

    func scalars(_ predicate: Predicate<Scalars>) throws -> [Int] {
      try reader.fetch(FetchDescriptor(predicate: predicate)).map(\.int)
    }
    #expect(try scalars(#Predicate { $0.flag }) == [7])
    #expect(try scalars(#Predicate { !$0.flag }) == [6])
    #expect(try scalars(#Predicate { $0.flag == false }) == [6])
    #expect(try scalars(#Predicate { $0.url == site }) == [6])
    #expect(try scalars(#Predicate { $0.uuid == id }) == [6])
    #expect(try scalars(#Predicate { $0.date <= now }) == [6])
    #expect(try scalars(#Predicate { $0.date > now }) == [7])
    #expect(try scalars(#Predicate { $0.int % 2 == 1 }) == [7])
    #expect(try scalars(#Predicate { $0.int * 2 - 1 == 11 }) == [6])
    let bound = UInt64.max
    #expect(try scalars(#Predicate { $0.uint64 == bound }).count == 2)
    #expect(try scalars(#Predicate { $0.uint64 < bound }).isEmpty)
  }

  @Test(arguments: StorePlace.allCases)
  func `F6 predicates over to-many relationships`(_ place: StorePlace) throws {
    let store = try filled(place)
    let context = store.context()
    func clubs(_ predicate: Predicate<Club>) throws -> [String] {
      try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)]))
        .map(\.name)
    }
    context.insert(Club(name: "Empty"))
    try context.save()
    #expect(try clubs(#Predicate { $0.members.isEmpty }) == ["Empty"])
    #expect(try clubs(#Predicate { $0.members.count == 2 }) == ["Chess", "Go"])
    #expect(try clubs(#Predicate { $0.members.contains { $0.age > 30 } }) == ["Chess"])
    #expect(try clubs(#Predicate { $0.members.allSatisfy { $0.age <= 30 } }) == ["Empty", "Go"])
    #expect(
      try clubs(#Predicate { $0.members.filter { $0.age == 20 }.count == 2 }) == ["Go"])
  }

  @Test(arguments: StorePlace.allCases)
  func `F7 enumerate goes through everything in batches`(_ place: StorePlace) throws {
    let store = try TestStore(place, Pilot.self, Crew.self)
    let writer = store.context()
    for number in 0..<1_200 { writer.insert(Pilot(name: "\(number)")) }
    try writer.save()

    let context = store.context()
    var seen = Set<String>()
    var peak = 0
    try context.enumerate(FetchDescriptor<Pilot>(), batchSize: 100) { pilot in
      seen.insert(pilot.name)
      peak = max(peak, context.registeredModelCount)
    }
    #expect(seen.count == 1_200)
    #expect(peak <= 200)

    struct Stop: Error {}
    var visited = 0
    #expect(throws: Stop.self) {
      try context.enumerate(FetchDescriptor<Pilot>(), batchSize: 100) { _ in
        visited += 1
        if visited == 150 { throw Stop() }
      }
    }
    #expect(visited == 150)
    #expect(throws: SwiftDataError.self) {
      try context.enumerate(FetchDescriptor<Pilot>(), batchSize: 100) { $0.name += "x" }
    }
    context.rollback()
    try context.enumerate(
      FetchDescriptor<Pilot>(), batchSize: 100, allowEscapingMutations: true
    ) { $0.name += "!" }
    #expect(context.changedModelsArray.count == 1_200)
    try context.save()
    let renamed = FetchDescriptor<Pilot>(predicate: #Predicate { $0.name.contains("!") })
    #expect(try store.reopened().fetchCount(renamed) == 1_200)
  }

  @Test(arguments: StorePlace.allCases)
  func `F8 a fetch in batches is a lazy collection`(_ place: StorePlace) throws {
    let store = try TestStore(place, Pilot.self, Crew.self)
    let writer = store.context()
    for number in 0..<1_000 { writer.insert(Pilot(name: String(format: "%04d", number))) }
    try writer.save()

    let context = store.context()
    let descriptor = FetchDescriptor<Pilot>(sortBy: [SortDescriptor(\.name)])
    let pilots = try context.fetch(descriptor, batchSize: 50)
    #expect(pilots.count == 1_000)
    #expect(context.registeredModelCount == 0)
    #expect(pilots[777].name == "0777")
    #expect(context.registeredModelCount <= 50)
    #expect(pilots[777] === pilots[777])
    #expect(pilots.first?.name == "0000")
    #expect(pilots.last?.name == "0999")
    #expect(pilots.map(\.name) == (0..<1_000).map { String(format: "%04d", $0) })
    let identifiers = try context.fetchIdentifiers(descriptor, batchSize: 50)
    #expect(identifiers.count == 1_000)
    #expect(identifiers[3] == pilots[3].persistentModelID)
  }

  @Test(arguments: StorePlace.allCases)
  func `F9 predicates in generic and protocol code`(_ place: StorePlace) throws {
    let store = try filled(place)
    let context = store.context()
    #expect(try named("Ann", Member.self, context).map(\.age) == [30])
    #expect(try named("Go", Club.self, context).map(\.members.count) == [2])
    #expect(try sortedByName(Club.self, context).map(\.name) == ["Chess", "Go"])
    #expect(try Repository<Member>(context).find(named: "Bob").map(\.age) == [20])
  }

  @Test(arguments: StorePlace.allCases)
  func `F10 a fetch of a class returns its subclasses`(_ place: StorePlace) throws {
    let store = try TestStore.vehicles(place)
    let context = store.context()
    context.insert(Vehicle(name: "cart"))
    let mini = Car(name: "mini", doors: 3)
    context.insert(mini)
    context.insert(Truck(name: "big", load: 9.5))
    let driver = Driver(name: "Ann")
    mini.driver = driver
    driver.garage = [mini, Truck(name: "small", load: 1)]
    try context.save()

    let reader = try store.reopened()
    let byName = FetchDescriptor<Vehicle>(sortBy: [SortDescriptor(\.name)])
    let vehicles = try reader.fetch(byName)
    #expect(vehicles.map(\.name) == ["big", "cart", "mini", "small"])
    #expect((vehicles[0] as? Truck)?.load == 9.5)
    #expect(type(of: vehicles[1]) == Vehicle.self)
    #expect((vehicles[2] as? Car)?.doors == 3)
    #expect(vehicles.map(\.wheels) == [6, 4, 4, 6])
    #expect(try reader.all(Car.self).first === vehicles[2])
    #expect(try reader.count(Truck.self) == 2)
    let stored = try reader.only(Driver.self)
    #expect(stored.cars.first === vehicles[2])
    #expect(stored.garage.map(\.name) == ["mini", "small"])
    #expect((vehicles[2] as? Car)?.driver === stored)
    let wide = FetchDescriptor<Vehicle>(
      predicate: #Predicate { $0.wheels > 4 }, sortBy: [SortDescriptor(\.name)])
    #expect(try reader.fetch(wide).map(\.name) == ["big", "small"])
    let inherited = FetchDescriptor<Truck>(predicate: #Predicate { $0.name == "small" })
    #expect(try reader.fetch(inherited).map(\.load) == [1])
    let cars = FetchDescriptor<Vehicle>(predicate: #Predicate { $0 is Car })
    #expect(try reader.fetch(cars).map(\.name) == ["mini"])
    let doors = FetchDescriptor<Vehicle>(predicate: #Predicate { ($0 as? Car)?.doors == 3 })
    #expect(try reader.fetch(doors).map(\.name) == ["mini"])
    reader.delete(stored)
    try reader.save()
    #expect(try store.reopened().fetch(byName).map(\.name) == ["big", "cart"])
  }
}

private protocol Named: PersistentModel {
  var name: String { get set }
}

extension Member: Named {}
extension Club: Named {}

private func named<T: PersistentModel & Named>(
  _ name: String, _ type: T.Type, _ context: ModelContext
) throws -> [T] {
  try context.fetch(FetchDescriptor<T>(predicate: #Predicate<T> { $0.name == name }))
}

private func sortedByName<T: PersistentModel & Named>(
  _ type: T.Type, _ context: ModelContext
) throws -> [T] {
  try context.fetch(FetchDescriptor<T>(sortBy: [SortDescriptor(\T.name)]))
}

private struct Repository<Model: PersistentModel & Named> {
  let context: ModelContext

  init(_ context: ModelContext) { self.context = context }

  func find(named name: String) throws -> [Model] {
    var descriptor = FetchDescriptor<Model>()
    descriptor.predicate = #Predicate { model in model.name == name }
    descriptor.fetchLimit = 1
    return try context.fetch(descriptor)
  }
}
