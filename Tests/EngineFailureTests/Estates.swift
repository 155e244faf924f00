import SwiftData

/// Its houses and its gate go with it, its trees and its keeper stay.
@Model final class Estate {
  var number: Int
  var points = 0
  @Relationship(deleteRule: .cascade, inverse: \House.estate) var houses: [House] = []
  @Relationship(deleteRule: .cascade, inverse: \Gate.estate) var gate: Gate?
  @Relationship(inverse: \Tree.estate) var trees: [Tree] = []
  @Relationship(inverse: \Keeper.estate) var keeper: Keeper?
  @Relationship(inverse: \Path.estates) var paths: [Path] = []
  init(_ number: Int) { self.number = number }
}

/// Its rooms go with it.
@Model final class House {
  var number: Int
  var estate: Estate?
  @Relationship(deleteRule: .cascade, inverse: \Room.house) var rooms: [Room] = []
  @Relationship(inverse: \Path.houses) var paths: [Path] = []
  var street: Street?
  init(_ number: Int) { self.number = number }
}

@Model final class Street {
  var number: Int
  @Relationship(inverse: \House.street) var houses: [House] = []
  init(_ number: Int) { self.number = number }
}

@Model final class Room {
  var number: Int
  var house: House?
  init(_ number: Int) { self.number = number }
}

@Model final class Gate {
  var number: Int
  var estate: Estate?
  init(_ number: Int) { self.number = number }
}

@Model final class Tree {
  var number: Int
  var estate: Estate?
  init(_ number: Int) { self.number = number }
}

@Model final class Keeper {
  var number: Int
  var estate: Estate?
  init(_ number: Int) { self.number = number }
}

@Model final class Path {
  var number: Int
  var estates: [Estate] = []
  var houses: [House] = []
  init(_ number: Int) { self.number = number }
}

/// What a context has of estates, by numbers; -1 for nothing.
struct EstateMap: Equatable {
  struct Contradiction: Error { let description: String }

  static let models: [any PersistentModel.Type] = [
    Estate.self, House.self, Room.self, Gate.self, Tree.self, Keeper.self, Path.self,
    Street.self,
  ]

  var points: [Int: Int] = [:]
  var houses: [Int: Int] = [:]
  var rooms: [Int: Int] = [:]
  var gates: [Int: Int] = [:]
  var trees: [Int: Int] = [:]
  var keepers: [Int: Int] = [:]
  var estatePaths: [Int: Set<Int>] = [:]
  var housePaths: [Int: Set<Int>] = [:]
  var streets: [Int: Int] = [:]

  /// Throws if two sides of a relationship contradict each other.
  init(_ context: ModelContext) throws {
    func require(_ holds: Bool, _ what: String) throws {
      if !holds { throw Contradiction(description: what) }
    }
    for estate in try context.fetch(FetchDescriptor<Estate>()) {
      points[estate.number] = estate.points
      estatePaths[estate.number] = Set(estate.paths.map(\.number))
      try require(estate.houses.allSatisfy { $0.estate === estate }, "houses of \(estate.number)")
      try require(estate.trees.allSatisfy { $0.estate === estate }, "trees of \(estate.number)")
      try require(estate.gate.map { $0.estate === estate } ?? true, "gate of \(estate.number)")
      try require(estate.keeper.map { $0.estate === estate } ?? true, "keeper of \(estate.number)")
      try require(
        estate.paths.allSatisfy { $0.estates.contains(estate) }, "paths of \(estate.number)")
    }
    for house in try context.fetch(FetchDescriptor<House>()) {
      houses[house.number] = house.estate?.number ?? -1
      housePaths[house.number] = Set(house.paths.map(\.number))
      streets[house.number] = house.street?.number ?? -1
      try require(
        house.street.map { $0.isDeleted || $0.houses.contains(house) } ?? true,
        "street of house \(house.number)")
      // Until the save, what is deleted may be led to by what others have committed.
      try require(
        house.estate.map { $0.isDeleted || $0.houses.contains(house) } ?? true,
        "estate of house \(house.number)")
      try require(house.rooms.allSatisfy { $0.house === house }, "rooms of \(house.number)")
      try require(house.paths.allSatisfy { $0.houses.contains(house) }, "paths of \(house.number)")
    }
    for room in try context.fetch(FetchDescriptor<Room>()) {
      rooms[room.number] = room.house?.number ?? -1
      try require(
        room.house.map { $0.isDeleted || $0.rooms.contains(room) } ?? true,
        "house of room \(room.number)")
    }
    for gate in try context.fetch(FetchDescriptor<Gate>()) {
      gates[gate.number] = gate.estate?.number ?? -1
      try require(
        gate.estate.map { $0.isDeleted || $0.gate === gate } ?? true,
        "estate of gate \(gate.number)")
    }
    for tree in try context.fetch(FetchDescriptor<Tree>()) {
      trees[tree.number] = tree.estate?.number ?? -1
      try require(
        tree.estate.map { $0.isDeleted || $0.trees.contains(tree) } ?? true,
        "estate of tree \(tree.number)")
    }
    for keeper in try context.fetch(FetchDescriptor<Keeper>()) {
      keepers[keeper.number] = keeper.estate?.number ?? -1
      try require(
        keeper.estate.map { $0.isDeleted || $0.keeper === keeper } ?? true,
        "estate of keeper \(keeper.number)")
    }
    for street in try context.fetch(FetchDescriptor<Street>()) {
      try require(street.houses.allSatisfy { $0.street === street }, "houses of \(street.number)")
    }
    for path in try context.fetch(FetchDescriptor<Path>()) {
      try require(path.estates.allSatisfy { $0.paths.contains(path) }, "estates of \(path.number)")
      try require(path.houses.allSatisfy { $0.paths.contains(path) }, "houses of \(path.number)")
    }
  }

  /// Deletes estates, houses and rooms, with what goes with them.
  func deleting(estates: Set<Int>, houses gone: Set<Int>, rooms goneRooms: Set<Int>) -> EstateMap {
    var result = self
    for estate in estates {
      (result.points[estate], result.estatePaths[estate]) = (nil, nil)
    }
    result.gates = gates.filter { !estates.contains($0.value) }
    result.trees = trees.mapValues { estates.contains($0) ? -1 : $0 }
    result.keepers = keepers.mapValues { estates.contains($0) ? -1 : $0 }
    let left = houses.filter { !estates.contains($0.value) && !gone.contains($0.key) }
    result.houses = left
    result.streets = streets.filter { left[$0.key] != nil }
    result.housePaths = housePaths.filter { left[$0.key] != nil }
    result.rooms = rooms.filter { number, house in
      !goneRooms.contains(number) && (house == -1 || left[house] != nil)
    }
    return result
  }
}
