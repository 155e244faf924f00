import SwiftData

@Model class Vehicle {
  var name: String
  var wheels = 4

  init(name: String) { self.name = name }
}

@Model final class Car: Vehicle {
  var doors: Int
  var driver: Driver?

  init(name: String, doors: Int) {
    self.doors = doors
    super.init(name: name)
  }
}

@Model final class Truck: Vehicle {
  var load: Double

  init(name: String, load: Double) {
    self.load = load
    super.init(name: name)
    wheels = 6
  }
}

@Model final class Driver {
  var name: String
  @Relationship(inverse: \Car.driver) var cars: [Car] = []
  @Relationship(deleteRule: .cascade) var garage: [Vehicle] = []

  init(name: String) { self.name = name }
}

extension TestStore {
  static func vehicles(_ place: StorePlace) throws -> TestStore {
    try TestStore(place, Vehicle.self, Car.self, Truck.self, Driver.self)
  }
}
