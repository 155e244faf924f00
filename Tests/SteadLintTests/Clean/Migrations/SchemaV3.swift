import Foundation
import SwiftData

enum TripsSchemaV3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Trip.self, Stop.self] }

  @Model
  final class Trip {
    var name: String
    var begins: Date = Date.distantPast
    @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
    init(name: String) { self.name = name }
  }

  @Model
  final class Stop {
    var place: String
    var trip: Trip?
    init(place: String) { self.place = place }
  }
}
