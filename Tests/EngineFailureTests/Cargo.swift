import SwiftData

/// Its vessels go with it.
@Model final class Wharf {
  var number: Int
  @Relationship(deleteRule: .cascade, inverse: \Vessel.wharf) var vessels: [Vessel] = []
  init(number: Int) { self.number = number }
}

@Model class Vessel {
  var number: Int
  var wharf: Wharf?
  init(number: Int) { self.number = number }
}

@Model final class Keg: Vessel {
  var taps = 0
  override init(number: Int) { super.init(number: number) }
}

/// Its vessel, which does not know of it, is required.
@Model class Shipment {
  var number: Int
  var weight = 0
  var vessel: Vessel

  init(number: Int, vessel: Vessel) {
    self.number = number
    self.vessel = vessel
  }
}

/// Also requires an object of a subclass.
@Model final class RushShipment: Shipment {
  var keg: Keg

  init(number: Int, vessel: Vessel, keg: Keg) {
    self.keg = keg
    super.init(number: number, vessel: vessel)
  }
}

/// Has at least one vessel, which does not know of it.
@Model final class Rack {
  var number: Int
  @Relationship(minimumModelCount: 1) var vessels: [Vessel] = []
  init(number: Int) { self.number = number }
}

/// What a store of these models has, by numbers.
struct CargoContent: Equatable, CustomStringConvertible {
  struct Shipping: Equatable {
    var vessel: Int
    /// Of a rush shipment.
    var keg: Int?
  }

  var wharves: Set<Int> = []
  var kegs: Set<Int> = []
  /// The wharf of each vessel, 0 for none.
  var vessels: [Int: Int] = [:]
  var shipments: [Int: Shipping] = [:]
  var racks: [Int: Set<Int>] = [:]

  init() {}

  init(_ context: ModelContext) throws {
    wharves = Set(try context.fetch(FetchDescriptor<Wharf>()).map(\.number))
    for vessel in try context.fetch(FetchDescriptor<Vessel>()) {
      vessels[vessel.number] = vessel.wharf?.number ?? 0
      if vessel is Keg { kegs.insert(vessel.number) }
    }
    for shipment in try context.fetch(FetchDescriptor<Shipment>()) {
      shipments[shipment.number] = Shipping(
        vessel: shipment.vessel.number, keg: (shipment as? RushShipment)?.keg.number)
    }
    for rack in try context.fetch(FetchDescriptor<Rack>()) {
      racks[rack.number] = Set(rack.vessels.map(\.number))
    }
  }

  /// Whether each required relationship has what it needs.
  var isValid: Bool {
    shipments.values.allSatisfy { shipping in
      vessels[shipping.vessel] != nil && shipping.keg.map { vessels[$0] != nil } ?? true
    } && racks.values.allSatisfy { !$0.isEmpty }
  }

  var description: String {
    "wharves \(wharves.sorted()), vessels \(vessels.sorted { $0.key < $1.key }.map { "\($0)@\($1)" }), shipments "
      + "\(shipments.sorted { $0.key < $1.key }.map { "\($0): \($1.vessel) \($1.keg ?? 0)" }), racks "
      + "\(racks.sorted { $0.key < $1.key }.map { "\($0): \($1.sorted())" })"
  }
}

/// What one context has changed and not saved.
struct CargoChanges {
  var wharfOf: [Int: Int] = [:]
  var vesselOf: [Int: Int] = [:]
  var kegOf: [Int: Int] = [:]
  var newShipments: [Int: CargoContent.Shipping] = [:]
  var newRacks: [Int: Set<Int>] = [:]
  var membership: [Int: [Int: Bool]] = [:]
  var deletedWharves: Set<Int> = []
  var deletedVessels: Set<Int> = []
  var deletedShipments: Set<Int> = []
  var deletedRacks: Set<Int> = []

  /// What the store becomes.
  func applied(to store: CargoContent) -> CargoContent {
    var result = store
    for (vessel, wharf) in wharfOf where store.vessels[vessel] != nil {
      // Another context may have deleted the wharf.
      result.vessels[vessel] = store.wharves.contains(wharf) ? wharf : 0
    }
    let withWharves = result.vessels.filter { deletedWharves.contains($0.value) }.keys
    let gone = deletedVessels.union(withWharves)
    result.wharves.subtract(deletedWharves)
    for vessel in gone { result.vessels[vessel] = nil }
    result.kegs.subtract(gone)
    for (shipment, shipping) in newShipments { result.shipments[shipment] = shipping }
    for (shipment, vessel) in vesselOf { result.shipments[shipment]?.vessel = vessel }
    for (shipment, keg) in kegOf { result.shipments[shipment]?.keg = keg }
    for shipment in deletedShipments { result.shipments[shipment] = nil }
    for (rack, members) in newRacks { result.racks[rack] = members }
    for (rack, changes) in membership {
      for (vessel, isMember) in changes {
        if isMember {
          result.racks[rack]?.insert(vessel)
        } else {
          result.racks[rack]?.remove(vessel)
        }
      }
    }
    for rack in deletedRacks { result.racks[rack] = nil }
    for rack in result.racks.keys {
      result.racks[rack]?.formIntersection(result.vessels.keys)
    }
    return result
  }
}
