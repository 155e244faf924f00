import Foundation
import SwiftData

struct BookSearch {
  let context: ModelContext

  func books(by author: String) throws -> [Book] {
    try context.fetch(
      FetchDescriptor<Book>(predicate: #Predicate { $0.author == author && $0.rating != nil }))
  }

  func withNotes() throws -> [Book] {
    try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { !$0.notes.isEmpty }))
  }

  func count(addedSince date: Date) throws -> Int {
    try context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.addedAt > date }))
  }
}
