import Foundation
import SwiftData

@Model final class Card {
  @Attribute(.unique) var id = UUID()
}

func openCards() throws -> ModelContainer {
  try ModelContainer(
    for: Card.self, Deck.self, configurations: ModelConfiguration(cloudKitDatabase: .automatic))
}
