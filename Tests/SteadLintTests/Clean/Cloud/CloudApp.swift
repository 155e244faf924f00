import SwiftData
import SwiftUI

@main
struct CardsApp: App {
  var body: some Scene {
    WindowGroup { DeckList() }.modelContainer(for: Deck.self)
  }
}
