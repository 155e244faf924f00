import Foundation
import SwiftData

/// A record that a row of the table becomes.
@Model final class Book {
  var number: Int
  var title: String
  var author: String
  var price: Double
  var isRead: Bool

  init(_ row: BookRow) {
    number = row.number
    title = row.title
    author = row.author
    price = row.price
    isRead = row.isRead
  }
}
