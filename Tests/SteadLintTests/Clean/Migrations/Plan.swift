import SwiftData

enum TripsPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] {
    [TripsSchemaV1.self, TripsSchemaV2.self, TripsSchemaV3.self]
  }

  static var stages: [MigrationStage] { [addDates, addStops] }

  private static let addDates = MigrationStage.lightweight(
    fromVersion: TripsSchemaV1.self, toVersion: TripsSchemaV2.self)
  private static let addStops = MigrationStage.custom(
    fromVersion: TripsSchemaV2.self, toVersion: TripsSchemaV3.self, willMigrate: nil,
    didMigrate: { context in
      for trip in try context.fetch(FetchDescriptor<TripsSchemaV3.Trip>()) where trip.stops.isEmpty
      {
        trip.stops.append(TripsSchemaV3.Stop(place: trip.name))
      }
      try context.save()
    })
}
