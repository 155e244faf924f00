import SwiftData

@Model final class Deck {
  var title: String
  init(title: String) { self.title = title }
}
