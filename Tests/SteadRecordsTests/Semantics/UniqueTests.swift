import Foundation
import SwiftData
import Testing

@Suite("unique values and upserts") struct UniqueTests {
  @Test(arguments: StorePlace.allCases)
  func `U1 unsaved duplicates coexist, the save leaves the newest values`(_ place: StorePlace)
    throws
  {
    let store = try TestStore(place, Badge.self, Scan.self)
    let context = store.context()
    context.insert(Badge(code: "a", label: "old", count: 1))
    context.insert(Badge(code: "a", label: "new"))
    #expect(try context.count(Badge.self) == 2)
    try context.save()
    #expect(try context.count(Badge.self) == 1)
    let badge = try store.reopened().only(Badge.self)
    #expect(badge.label == "new")
    #expect(badge.count == nil)
    #expect(try context.only(Badge.self).label == "new")
  }

  @Test(arguments: StorePlace.allCases)
  func `U2 a duplicate of a saved row updates it`(_ place: StorePlace) throws {
    let store = try TestStore(place, Badge.self, Scan.self)
    let writer = store.context()
    let first = Badge(code: "a", label: "old", count: 7)
    writer.insert(first)
    writer.insert(Badge(code: "b", label: "other"))
    try writer.save()
    let id = first.persistentModelID

    let context = store.context()
    let second = Badge(code: "a")
    context.insert(second)
    try context.save()
    #expect(second.persistentModelID == id)
    let reader = try store.reopened()
    #expect(try reader.count(Badge.self) == 2)
    let badge = try #require(reader.model(for: id) as? Badge)
    // Defaults overwrite, too.
    #expect(badge.label == "none")
    #expect(badge.count == nil)
  }

  @Test(arguments: StorePlace.allCases)
  func `U2 relationships of a duplicate go to the row`(_ place: StorePlace) throws {
    let store = try TestStore(place, Badge.self, Scan.self)
    let writer = store.context()
    writer.insert(Scan(place: "door", badge: Badge(code: "a")))
    try writer.save()

    let context = store.context()
    context.insert(Scan(place: "gate", badge: Badge(code: "a", label: "new")))
    try context.save()
    let reader = try store.reopened()
    let badge = try reader.only(Badge.self)
    #expect(badge.label == "new")
    #expect(Set(badge.scans.map(\.place)) == ["door", "gate"])
  }

  @Test(arguments: StorePlace.allCases)
  func `U2 changing a value to one that is taken is refused`(_ place: StorePlace) throws {
    let store = try TestStore(place, Badge.self, Scan.self)
    let context = store.context()
    let (a, b) = (Badge(code: "a", label: "A"), Badge(code: "b", label: "B"))
    context.insert(a)
    context.insert(b)
    try context.save()
    b.code = "a"
    #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    #expect(b.code == "a")
    #expect(b.hasChanges)
    b.code = "c"
    try context.save()
    #expect(try store.reopened().count(Badge.self) == 2)
  }

  @Test(arguments: StorePlace.allCases)
  func `U2 a deleted value can be used again at once`(_ place: StorePlace) throws {
    let store = try TestStore(place, Badge.self, Scan.self)
    let context = store.context()
    let old = Badge(code: "a", label: "old")
    context.insert(old)
    try context.save()
    context.delete(old)
    context.insert(Badge(code: "a", label: "new"))
    try context.save()
    #expect(try store.reopened().only(Badge.self).label == "new")
  }

  @Test(arguments: StorePlace.allCases)
  func `U2 values that trade places`(_ place: StorePlace) throws {
    let store = try TestStore(place, Badge.self, Scan.self)
    let context = store.context()
    let (a, b) = (Badge(code: "a", label: "A"), Badge(code: "b", label: "B"))
    context.insert(a)
    context.insert(b)
    try context.save()
    (a.code, b.code) = ("b", "a")
    try context.save()
    let sorted = FetchDescriptor<Badge>(sortBy: [SortDescriptor(\.code)])
    #expect(try store.reopened().fetch(sorted).map(\.label) == ["B", "A"])
  }

  @Test(arguments: StorePlace.allCases)
  func `U3 each compound constraint is a key of its own`(_ place: StorePlace) throws {
    let store = try TestStore(place, Seat.self)
    let context = store.context()
    context.insert(Seat(hall: "A", number: 1, holder: "Ann", price: 1))
    context.insert(Seat(hall: "A", number: 2, holder: "Bob", price: 2))
    context.insert(Seat(hall: "B", number: 1, holder: "Ann", price: 3))
    try context.save()
    #expect(try context.count(Seat.self) == 3)

    context.insert(Seat(hall: "A", number: 1, holder: "Cid", price: 4))
    try context.save()
    #expect(try context.count(Seat.self) == 3)
    context.insert(Seat(hall: "A", number: 9, holder: "Bob", price: 5))
    try context.save()
    let sorted = FetchDescriptor<Seat>(sortBy: [SortDescriptor(\.price)])
    let seats = try store.reopened().fetch(sorted)
    #expect(seats.map(\.price) == [3, 4, 5])
    #expect(seats.map(\.holder) == ["Ann", "Cid", "Bob"])
    #expect(seats.map(\.number) == [1, 1, 9])
  }

  @Test(arguments: StorePlace.allCases)
  func `U3 nil in a key differs from every nil`(_ place: StorePlace) throws {
    let store = try TestStore(place, Seat.self)
    let context = store.context()
    for number in 1...3 { context.insert(Seat(hall: "A", number: number)) }
    try context.save()
    context.insert(Seat(hall: "A", number: 4))
    try context.save()
    #expect(try store.reopened().count(Seat.self) == 4)
  }

  @Test(arguments: StorePlace.allCases)
  func `U4 a to-one relationship can be unique`(_ place: StorePlace) throws {
    let store = try TestStore(place, Locker.self, LockerOwner.self)
    let context = store.context()
    let ann = LockerOwner(name: "Ann")
    context.insert(Locker(number: 1, owner: ann))
    context.insert(Locker(number: 2))
    context.insert(Locker(number: 3))
    try context.save()
    context.insert(Locker(number: 4, owner: ann))
    try context.save()
    let sorted = FetchDescriptor<Locker>(sortBy: [SortDescriptor(\.number)])
    let lockers = try store.reopened().fetch(sorted)
    #expect(lockers.map(\.number) == [2, 3, 4])
    #expect(lockers.map { $0.owner?.name } == [nil, nil, "Ann"])
  }

  @Test func `U4 a to-many relationship cannot be unique`() {
    #expect(throws: SwiftDataError.self) {
      _ = try TestStore(.memory, Shelf.self, Volume.self)
    }
  }

  @Test(arguments: StorePlace.allCases)
  func `U5 the new object forwards to the one that was there`(_ place: StorePlace) throws {
    let store = try TestStore(place, Badge.self, Scan.self)
    let context = store.context()
    let first = Badge(code: "a", label: "old")
    context.insert(first)
    try context.save()
    let second = Badge(code: "a", label: "new")
    context.insert(second)
    try context.save()

    #expect(first.label == "new")
    #expect(second.label == "new")
    #expect(first == second)
    #expect(first.persistentModelID == second.persistentModelID)
    #expect(try context.only(Badge.self) === first)
    // Whichever reference the program holds, it reads and writes the one object.
    second.label = "by second"
    #expect(first.label == "by second")
    #expect(context.hasChanges)
    first.count = 3
    #expect(second.count == 3)
    try context.save()
    let stored = try store.reopened().only(Badge.self)
    #expect(stored.label == "by second")
    #expect(stored.count == 3)

    second.scans.append(Scan(place: "door"))
    try context.save()
    #expect(first.scans.map(\.place) == ["door"])
    #expect(try store.reopened().only(Scan.self).badge?.code == "a")
    context.delete(second)
    try context.save()
    #expect(try store.reopened().count(Badge.self) == 0)
    #expect(try store.reopened().count(Scan.self) == 0)
  }

  @Test(arguments: StorePlace.allCases)
  func `U5 other objects refer to the one that stays`(_ place: StorePlace) throws {
    let store = try TestStore(place, Badge.self, Scan.self)
    let context = store.context()
    let first = Badge(code: "a")
    context.insert(first)
    try context.save()
    let scan = Scan(place: "gate", badge: Badge(code: "a", label: "new"))
    context.insert(scan)
    try context.save()
    #expect(scan.badge === first)
    #expect(first.scans.first === scan)
    #expect(first.scans.count == 1)
  }

  @Test(arguments: StorePlace.allCases)
  func `U5 unsaved duplicates become one object`(_ place: StorePlace) throws {
    let store = try TestStore(place, Badge.self, Scan.self)
    let context = store.context()
    let first = Badge(code: "a", label: "old")
    let second = Badge(code: "a", label: "new")
    context.insert(first)
    context.insert(second)
    try context.save()
    #expect(first == second)
    #expect(first.label == "new")
    second.label = "newest"
    #expect(first.label == "newest")
    try context.save()
    #expect(try store.reopened().only(Badge.self).label == "newest")
  }
}
