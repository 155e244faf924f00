import SwiftData

func countTrips(in context: ModelContext) throws -> Int {
  let descriptor = FetchDescriptor<Trip>(predicate: #Predicate { $0.name.isEmpty == false })
  return try context.fetch(descriptor).count
}
