import SwiftData
import SwiftUI

func add(_ trip: Trip, to modelContext: ModelContext) {
  modelContext.insert(trip)
  try? modelContext.save()
}
