import SwiftData

func openTrips() throws -> ModelContainer {
  try ModelContainer(for: Trip.self, migrationPlan: TripsPlan.self)
}
