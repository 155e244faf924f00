import Foundation
import SwiftData

enum TripsSchemaV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Trip.self] }

  @Model
  final class Trip {
    var name: String
    var begins: Date = Date.distantPast
    init(name: String) { self.name = name }
  }
}
