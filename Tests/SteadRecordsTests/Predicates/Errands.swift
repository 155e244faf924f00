import Foundation
import SwiftData
import Testing

enum Urgency: String, Codable, CaseIterable { case low, high }

struct Stop: Codable, Equatable {
  var city: String
  var floor: Int
}

@Model final class Courier {
  var name: String
  var nickname: String?
  @Relationship(inverse: \Errand.courier) var errands: [Errand] = []

  init(name: String, nickname: String? = nil) {
    self.name = name
    self.nickname = nickname
  }
}

@Model class Errand {
  var number: Int
  var title: String
  var note: String?
  var isDone = false
  var weight = 1.0
  var floor: Int?
  var due: Date?
  var urgency = Urgency.low
  var formerUrgency: Urgency?
  var tags: [String] = []
  var stop = Stop(city: "Bonn", floor: 0)
  var courier: Courier?

  init(_ number: Int, _ title: String, note: String? = nil, courier: Courier? = nil) {
    self.number = number
    self.title = title
    self.note = note
    self.courier = courier
  }
}

@Model final class FarErrand: Errand {
  var distance: Int

  init(_ number: Int, _ title: String, distance: Int) {
    self.distance = distance
    super.init(number, title)
  }
}

/// A saved store of errands, with a nil in every optional property of some of them.
struct ErrandStore {
  let container: ModelContainer
  let context: ModelContext
  let errands: [Errand]
  let anna: Courier
  let ben: Courier

  init() throws {
    container = try ModelContainer(
      for: Courier.self, Errand.self, FarErrand.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(container)
    anna = Courier(name: "Anna", nickname: "Änni")
    ben = Courier(name: "Ben")
    let bread = Errand(1, "Buy bread", note: "Crème", courier: anna)
    bread.isDone = true
    bread.floor = 1
    bread.due = Date(timeIntervalSinceReferenceDate: 100)
    bread.urgency = .high
    bread.formerUrgency = .low
    bread.tags = ["food", "daily"]
    bread.stop = Stop(city: "Köln", floor: 3)
    let milk = Errand(2, "buy milk", note: "", courier: anna)
    milk.weight = 2.5
    milk.floor = 2
    milk.tags = ["food"]
    let post = Errand(3, "Cafe\u{301}", courier: ben)
    post.due = .distantFuture
    post.formerUrgency = .high
    let far = FarErrand(4, "Anna", distance: 9)
    far.weight = -1
    far.note = "Anna"
    errands = [bread, milk, post, far, Errand(5, "")]
    for errand in errands { context.insert(errand) }
    try context.save()
  }

  /// Expects a predicate to choose the errands that plain Swift chooses, in memory and as SQL.
  func expect(
    _ predicate: Predicate<Errand>, sourceLocation: SourceLocation = #_sourceLocation,
    like test: (Errand) -> Bool
  ) throws {
    let expected = errands.filter(test).map(\.number)
    let evaluated = try errands.filter { try predicate.evaluate($0) }.map(\.number)
    #expect(evaluated == expected, "in memory", sourceLocation: sourceLocation)
    let descriptor = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.number)])
    let fetched = try ModelContext(container).fetch(descriptor).map(\.number)
    #expect(fetched == expected, "from the store", sourceLocation: sourceLocation)
  }

  func expect(
    _ predicate: Predicate<Courier>, sourceLocation: SourceLocation = #_sourceLocation,
    like test: (Courier) -> Bool
  ) throws {
    let couriers = [anna, ben]
    let expected = couriers.filter(test).map(\.name)
    let evaluated = try couriers.filter { try predicate.evaluate($0) }.map(\.name)
    #expect(evaluated == expected, "in memory", sourceLocation: sourceLocation)
    let descriptor = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])
    let fetched = try ModelContext(container).fetch(descriptor).map(\.name)
    #expect(fetched == expected, "from the store", sourceLocation: sourceLocation)
  }
}
