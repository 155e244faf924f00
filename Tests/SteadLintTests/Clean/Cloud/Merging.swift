import Foundation
import SwiftData

/// Two devices may have made the same card.
func mergeDoubled(in context: ModelContext) throws {
  var seen: Set<UUID> = []
  for card in try context.fetch(FetchDescriptor<Card>(sortBy: [SortDescriptor(\.createdAt)])) {
    if !seen.insert(card.id).inserted { context.delete(card) }
  }
  try context.save()
}
