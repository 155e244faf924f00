import Foundation
import SwiftData

@Model
final class Note {
  var text: String
  var page: Int
  var book: Book?

  init(text: String, page: Int, book: Book) {
    self.text = text
    self.page = page
    self.book = book
  }
}
