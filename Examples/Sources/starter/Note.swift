import Foundation
import SwiftData

/// A model, as for Apple's SwiftData. Two notes never have the same text: the second replaces the first.
@Model final class Note {
  @Attribute(.unique) var text: String
  var made: Date

  init(text: String, made: Date = .now) {
    self.text = text
    self.made = made
  }
}
