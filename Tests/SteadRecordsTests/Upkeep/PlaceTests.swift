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
