import Foundation
import SwiftData

@Model
final class ReadingSession {
  var startedAt: Date
  var minutes: Int
  var pages: Int
  var mood: Mood?
  var book: Book?
  var reader: Reader?

  init(startedAt: Date = .now, minutes: Int, pages: Int) {
    self.startedAt = startedAt
    self.minutes = minutes
    self.pages = pages
  }

  var pace: Double { minutes == 0 ? 0 : Double(pages) / Double(minutes) }
}

@Model
final class Quote {
  var text: String
  var page: Int?
  var createdAt: Date
  var book: Book?

  init(text: String, page: Int? = nil) {
    self.text = text
    self.page = page
    self.createdAt = Date()
  }
}

@Model
final class ImportLog {
  var id: UUID = UUID()
  var source: URL
  var count: Int
  var failures: [String: Int] = [:]

  init(source: URL, count: Int) {
    self.source = source
    self.count = count
  }
}
