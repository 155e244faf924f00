import Foundation
import SwiftData
import Testing

@testable import SteadRecords

@Model class Trip {
  var name: String
  var destination: String
  var startDate: Date
  var endDate: Date
  @Relationship(deleteRule: .cascade, inverse: \BucketListItem.trip) var bucketList:
    [BucketListItem] = []

  init(
    name: String, destination: String, startDate: Date = .distantPast,
    endDate: Date = .distantFuture
  ) {
    self.name = name
    self.destination = destination
    self.startDate = startDate
    self.endDate = endDate
  }
}

@Model class PersonalTrip: Trip {
  enum Reason: String, CaseIterable, Codable { case family, reunion, wellness }
  var reason: Reason

  init(name: String, destination: String, reason: Reason) {
    self.reason = reason
    super.init(name: name, destination: destination)
  }
}

@Model class BusinessTrip: Trip {
  var perdiem = 0.0

  init(name: String, destination: String, perdiem: Double) {
    self.perdiem = perdiem
    super.init(name: name, destination: destination)
  }
}

@Model final class BucketListItem {
  var title: String
  var isInPlan: Bool
  var trip: Trip?

  init(title: String, isInPlan: Bool) {
    self.title = title
    self.isInPlan = isInPlan
  }
}

@Suite("Inheritance and expressions, as apps write them") struct TripTests {
  private let store: TestStore
  private let context: ModelContext

  init() throws {
    store = try TestStore(Trip.self, PersonalTrip.self, BusinessTrip.self, BucketListItem.self)
    let writer = store.context()
    let trips = [
      PersonalTrip(name: "Reunion", destination: "Lima", reason: .reunion),
      BusinessTrip(name: "Fair", destination: "Oslo", perdiem: 90),
      Trip(name: "Cruise", destination: "Lima"),
      PersonalTrip(name: "Home", destination: "Bern", reason: .family),
    ]
    for (place, trip) in trips.enumerated() {
      writer.insert(trip)
      trip.bucketList = (0..<3).map {
        BucketListItem(title: "\(place).\($0)", isInPlan: $0 < place)
      }
    }
    try writer.save()
    context = store.context()
  }

  private func names(_ predicate: Predicate<Trip>) throws -> [String] {
    try context.exactNames(\.name, predicate)
  }

  @Test func `classes are told from one another in predicates`() throws {
    #expect(try names(#Predicate { $0 is PersonalTrip }) == ["Home", "Reunion"])
    #expect(try names(#Predicate { !($0 is PersonalTrip) }) == ["Cruise", "Fair"])
    #expect(try names(#Predicate { ($0 as? BusinessTrip)?.perdiem == 90 }) == ["Fair"])
    let reason = #Predicate<Trip> {
      if let personal = $0 as? PersonalTrip {
        personal.name == "Home"
      } else {
        false
      }
    }
    #expect(try names(reason) == ["Home"])
  }

  @Test func `predicates of a class and of a search are put together`() throws {
    let searchText = "lima"
    let classPredicate = #Predicate<Trip> { $0 is PersonalTrip }
    let searchPredicate = #Predicate<Trip> {
      searchText.isEmpty
        ? true
        : $0.name.localizedStandardContains(searchText)
          || $0.destination.localizedStandardContains(searchText)
    }
    let full = #Predicate<Trip> { classPredicate.evaluate($0) && searchPredicate.evaluate($0) }
    #expect(try names(full) == ["Reunion"])
  }

  @Test func `an expression over a relationship is a part of the query`() throws {
    let unplanned = #Expression<[BucketListItem], Int> { items in
      items.filter { !$0.isInPlan }.count
    }
    let today = Date.now
    let predicate = #Predicate<Trip> { trip in
      (trip.startDate..<trip.endDate).contains(today) && unplanned.evaluate(trip.bucketList) > 1
    }
    #expect(try names(predicate) == ["Fair", "Reunion"])
  }

  @Test
  func `a relationship to a class holds objects of its subclasses, and predicates see them`() throws
  {
    let items = try context.fetch(
      FetchDescriptor<BucketListItem>(
        predicate: #Predicate { $0.trip is PersonalTrip }, sortBy: [SortDescriptor(\.title)]))
    #expect(items.map(\.title) == ["0.0", "0.1", "0.2", "3.0", "3.1", "3.2"])
    #expect(items.allSatisfy { $0.trip is PersonalTrip })
    let byTrip = try context.fetch(
      FetchDescriptor<BucketListItem>(
        sortBy: [SortDescriptor(\.trip?.name), SortDescriptor(\.title)]))
    #expect(byTrip.map(\.title).prefix(4) == ["2.0", "2.1", "2.2", "1.0"])
  }

  @Test(arguments: [true, false])
  func `a deletion by predicate takes subclasses along, or leaves them`(includesSubclasses: Bool)
    throws
  {
    try context.delete(
      model: Trip.self, where: #Predicate { $0.destination == "Lima" },
      includeSubclasses: includesSubclasses)
    let left = try store.reopened().fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)]))
    #expect(
      left.map(\.name) == (includesSubclasses ? ["Fair", "Home"] : ["Fair", "Home", "Reunion"]))
    #expect(try store.reopened().count(BucketListItem.self) == left.count * 3)
    #expect(try store.container.check().isSound)
  }

  @Test func `relationships that are prefetched are loaded by the fetch`() throws {
    var descriptor = FetchDescriptor<BucketListItem>(sortBy: [SortDescriptor(\.title)])
    descriptor.relationshipKeyPathsForPrefetching = [\.trip]
    let fresh = store.context()
    let items = try fresh.fetch(descriptor)
    let trips = try context.fetch(FetchDescriptor<Trip>()).map(\.persistentModelID)
    for id in trips { #expect((fresh.registeredModel(for: id) as Trip?) != nil) }
    #expect(Set(items.compactMap(\.trip?.persistentModelID)) == Set(trips))
  }
}
