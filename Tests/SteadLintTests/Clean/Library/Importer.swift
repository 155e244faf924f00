import Foundation
import SwiftData

@ModelActor
actor Importer {
  func add(_ rows: [BookRowData]) throws {
    for row in rows {
      modelContext.insert(Book(isbn: row.isbn, title: row.title, author: row.author))
    }
    try modelContext.save()
  }
}

struct BookRowData: Sendable {
  let isbn: String
  let title: String
  let author: String
}
