import Foundation
import SwiftData

@Model final class Headline {
  @Attribute(.spotlight) var title: String
  @Attribute(.spotlight) var body: String
  var topic: String
  var words: Int
  @Attribute(.externalStorage) var picture: Data?

  init(title: String, body: String = "", topic: String = "none", words: Int = 0) {
    self.title = title
    self.body = body
    self.topic = topic
    self.words = words
  }
}

@Model final class Unrelated {
  var number: Int
  init(number: Int) { self.number = number }
}
