import SwiftData

/// A class with a unique key and relationships of every kind.
@Model final class Rower {
  @Attribute(.unique) var number: Int
  var points = 0
  var coach: Rower?
  @Relationship(inverse: \Rower.coach) var pupils: [Rower] = []
  var boat: Boat?
  var races: [Boat] = []

  init(_ number: Int, points: Int = 0) {
    self.number = number
    self.points = points
  }
}

@Model final class Boat {
  var name: String
  @Relationship(inverse: \Rower.boat) var rower: Rower?
  @Relationship(inverse: \Rower.races) var racers: [Rower] = []
  /// Without an inverse.
  var sponsor: Rower?

  init(_ name: String) { self.name = name }
}

/// Rowers and boats as one context or the store has them.
struct Regatta: Equatable, CustomStringConvertible {
  struct Contradiction: Error, CustomStringConvertible { let description: String }

  private struct RowerValues: Equatable {
    var points: Int
    var coach: Int?
    var pupils: [Int]
    var boat: String?
    var races: [String]
  }

  private struct BoatValues: Equatable {
    var rower: Int?
    var racers: [Int]
    var sponsor: Int?
  }

  private var rowers: [[Int]: RowerValues] = [:]
  private var boats: [String: BoatValues] = [:]

  var isEmpty: Bool { rowers.isEmpty && boats.isEmpty }

  /// Throws if the two sides of a relationship contradict each other, or if a row has several objects.
  init(_ context: ModelContext) throws {
    let rowers = try context.fetch(FetchDescriptor<Rower>())
    let boats = try context.fetch(FetchDescriptor<Boat>())
    var seen: [Int: Int] = [:]
    for rower in rowers.sorted(by: { ($0.number, $0.points) < ($1.number, $1.points) }) {
      try Self.check(rower, rowers, boats)
      seen[rower.number, default: 0] += 1
      // Until the save there may be several with one number.
      self.rowers[[rower.number, seen[rower.number] ?? 0]] = RowerValues(
        points: rower.points, coach: rower.coach?.number,
        pupils: rower.pupils.map(\.number).sorted(), boat: rower.boat?.name,
        races: rower.races.map(\.name).sorted())
    }
    for boat in boats {
      try Self.check(boat, rowers)
      self.boats[boat.name] = BoatValues(
        rower: boat.rower?.number, racers: boat.racers.map(\.number).sorted(),
        sponsor: boat.sponsor.flatMap { $0.isDeleted ? nil : $0.number })
    }
  }

  private static func check(_ rower: Rower, _ rowers: [Rower], _ boats: [Boat]) throws {
    func require(_ holds: Bool, _ what: String) throws {
      if !holds { throw Contradiction(description: "rower \(rower.number): \(what)") }
    }
    if let coach = rower.coach {
      try require(rowers.contains { $0 === coach }, "coach \(coach.number) is not fetched")
      try require(coach.pupils.contains { $0 === rower }, "coach \(coach.number) lacks it")
    }
    for pupil in rower.pupils {
      try require(rowers.contains { $0 === pupil }, "pupil \(pupil.number) is not fetched")
      try require(pupil.coach === rower, "pupil \(pupil.number) has another coach")
    }
    if let boat = rower.boat {
      try require(boats.contains { $0 === boat }, "boat \(boat.name) is not fetched")
      try require(boat.rower === rower, "boat \(boat.name) has another rower")
    }
    for boat in rower.races {
      try require(boats.contains { $0 === boat }, "race \(boat.name) is not fetched")
      try require(boat.racers.contains { $0 === rower }, "race \(boat.name) lacks it")
    }
    try require(Set(rower.pupils.map(ObjectIdentifier.init)).count == rower.pupils.count, "pupils")
    try require(Set(rower.races.map(ObjectIdentifier.init)).count == rower.races.count, "races")
  }

  private static func check(_ boat: Boat, _ rowers: [Rower]) throws {
    func require(_ holds: Bool, _ what: String) throws {
      if !holds { throw Contradiction(description: "boat \(boat.name): \(what)") }
    }
    if let rower = boat.rower {
      try require(rower.boat === boat, "rower \(rower.number) has another boat")
    }
    for racer in boat.racers {
      try require(rowers.contains { $0 === racer }, "racer \(racer.number) is not fetched")
      try require(racer.races.contains { $0 === boat }, "racer \(racer.number) lacks it")
    }
    if let sponsor = boat.sponsor, !sponsor.isDeleted {
      try require(rowers.contains { $0 === sponsor }, "sponsor \(sponsor.number) is not fetched")
    }
  }

  var description: String {
    let first = rowers.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { key, rower in
      "\(key[0]): \(rower.points) coach \(rower.coach ?? 0) pupils \(rower.pupils) boat \(rower.boat ?? "-") races \(rower.races)"
    }
    let second = boats.sorted { $0.key < $1.key }.map { name, boat in
      "\(name): rower \(boat.rower ?? 0) racers \(boat.racers) sponsor \(boat.sponsor ?? 0)"
    }
    return (first + second).joined(separator: "; ")
  }
}
