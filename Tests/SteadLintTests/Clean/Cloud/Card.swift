import Foundation
import SwiftData

@Model
final class Card {
  var id: UUID = UUID()
  var front: String = ""
  var back: String = ""
  var createdAt: Date = Date.now
  var deck: Deck?
  @Transient var isFlipped: Bool = false

  init(front: String, back: String) {
    self.front = front
    self.back = back
  }
}
