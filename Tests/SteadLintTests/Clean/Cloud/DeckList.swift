import SwiftData
import SwiftUI

struct DeckList: View {
  @Query(filter: #Predicate<Deck> { $0.name != "" }, sort: \Deck.name) private var decks: [Deck]

  var body: some View { List(decks) { Text($0.name) } }
}
