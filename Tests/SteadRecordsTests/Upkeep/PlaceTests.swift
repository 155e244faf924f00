import Foundation
import SwiftData
import Testing

@testable import SteadRecords

/// Places in to-many relationships that another program has written: of members with an inverse, and of pairs.
@Suite("Places that another program has written") struct PlaceTests {
  /// The places that the members had were dealt out in the new order. They were equal, so nothing was written: the save
  /// succeeded, the context showed the new order, and the file kept the old one.
  @Test func `members that share a place can be put in order, as the check advises`() throws {
    let store = try UpkeepStore()
    try store.sql("UPDATE Member SET _club_order = 1; UPDATE Driver_garage SET owner_order = 1")
    let kinds = try store.container.check().problems.map(\.kind)
    #expect(kinds == [.ambiguousOrder, .ambiguousOrder])
    let context = store.store.context()
    let (club, driver) = (try context.only(Club.self), try context.only(Driver.self))
    club.members.reverse()
    driver.garage.reverse()
    let (members, garage) = (club.members.map(\.name), driver.garage.map(\.name))
    try context.save()
    try expect(members, garage, in: store)
    #expect(try store.container.check().isSound)
    // What is added later still comes last.
    club.members.append(Member(name: "late"))
    driver.garage.append(Car(name: "late", doors: 5))
    try context.save()
    try expect(members + ["late"], garage + ["late"], in: store)
  }

  /// A member that was appended got its row's number as its place, which was less than the one that another program had
  /// written: the context showed it last, and the file had it before that one.
  @Test(arguments: [1000, Int64.max])
  func `a place beyond the numbers of the table is a problem, until the members are put in order`(
    place: Int64
  ) throws {
    let store = try UpkeepStore()
    // A number that the table has given out is none.
    try store.sql("UPDATE Member SET _club_order = 0 WHERE _id = 3")
    #expect(try store.container.check().isSound)
    try store.sql(
      "UPDATE Member SET _club_order = \(place) WHERE _id = 1; "
        + "UPDATE Driver_garage SET owner_order = \(place) WHERE _id = 1")
    let problems = try store.container.check().problems
    #expect(problems.map(\.kind) == [.futurePlace, .futurePlace], "\(problems)")
    #expect(Set(problems.compactMap(\.entity)) == ["Member", "Driver"])
    #expect(problems.allSatisfy { $0.rows == [1] && !$0.description.contains("\(place)") })
    let context = store.store.context()
    let (club, driver) = (try context.only(Club.self), try context.only(Driver.self))
    club.members.reverse()
    driver.garage.reverse()
    try context.save()
    #expect(try store.container.check().isSound)
    club.members.append(Member(name: "late"))
    driver.garage.append(Car(name: "late", doors: 5))
    let (members, garage) = (club.members.map(\.name), driver.garage.map(\.name))
    try context.save()
    try expect(members, garage, in: store)
    #expect(members.last == "late" && garage.last == "late")
  }

  /// The description says how another program makes a row the last one.
  @Test func `a place that is written to stead_sequence comes before what is appended`() throws {
    let store = try UpkeepStore()
    try store.sql(
      """
      UPDATE Member SET _club_order = 4 WHERE _id = 1;
      INSERT INTO stead_sequence VALUES ('Member', 4)
        ON CONFLICT (name) DO UPDATE SET last = excluded.last
      """)
    #expect(try store.container.check().isSound)
    let context = store.store.context()
    let club = try context.only(Club.self)
    club.members.append(Member(name: "late"))
    try context.save()
    let garage = try context.only(Driver.self).garage.map(\.name)
    try expect(["Member 1", "Member 2", "Member 0", "late"], garage, in: store)
  }

  /// Only places of 0 or more were dealt out again, so nothing was written.
  @Test func `members with places below 0 can be put in order, and others before them`() throws {
    let store = try UpkeepStore()
    try store.sql(
      "UPDATE Member SET _club_order = -_id; UPDATE Driver_garage SET owner_order = -\"_id\"")
    let context = store.store.context()
    let (club, driver) = (try context.only(Club.self), try context.only(Driver.self))
    #expect(club.members.map(\.name) == ["Member 2", "Member 1", "Member 0"])
    club.members.reverse()
    driver.garage.reverse()
    let (members, garage) = (club.members.map(\.name), driver.garage.map(\.name))
    try context.save()
    try expect(members, garage, in: store)
    club.members.insert(Member(name: "early"), at: 0)
    driver.garage.insert(Car(name: "early", doors: 5), at: 0)
    try context.save()
    try expect(["early"] + members, ["early"] + garage, in: store)
    #expect(try store.container.check().isSound)
  }

  /// Text is greater than each number, and none as a number: new pairs got a number that another pair had, and were
  /// ignored.
  @Test func `text in stead_sequence counts as no number`() throws {
    let store = try UpkeepStore()
    try store.sql(
      "INSERT INTO stead_sequence SELECT 'Driver_garage', 'text' WHERE true "
        + "ON CONFLICT (name) DO UPDATE SET last = 'text'; "
        + "INSERT INTO stead_sequence SELECT 'Member', 'text' WHERE true "
        + "ON CONFLICT (name) DO UPDATE SET last = 'text'")
    let context = ModelContext(try store.store.secondContainer())
    let (club, driver) = (try context.only(Club.self), try context.only(Driver.self))
    club.members.append(Member(name: "late"))
    driver.garage.append(Car(name: "late", doors: 5))
    let (members, garage) = (club.members.map(\.name), driver.garage.map(\.name))
    try context.save()
    try expect(members, garage, in: store)
    driver.garage.removeLast()
    driver.garage.append(Car(name: "later", doors: 5))
    try context.save()
    try expect(members, garage.dropLast() + ["later"], in: store)
    #expect(try store.container.check().isSound)
  }

  /// Compares the lists of a new context with what is expected.
  private func expect(
    _ members: [String], _ garage: [String], in store: UpkeepStore,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let context = store.store.context()
    let stored = try context.only(Club.self).members.map(\.name)
    #expect(stored == members, sourceLocation: sourceLocation)
    let cars = try context.only(Driver.self).garage.map(\.name)
    #expect(cars == garage, sourceLocation: sourceLocation)
  }
}
