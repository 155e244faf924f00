import Foundation
import SwiftData

@Model
final class Author {
  var givenName: String
  var familyName: String
  var born: Date?
  var books: [Book] = []

  init(givenName: String, familyName: String, born: Date? = nil) {
    self.givenName = givenName
    self.familyName = familyName
    self.born = born
  }

  var fullName: String { "\(givenName) \(familyName)" }
}

@Model
final class Reader {
  @Attribute(.unique) var handle: String
  var goal: Goal?
  var settings: ReaderSettings = ReaderSettings()
  @Relationship(deleteRule: .cascade, inverse: \Shelf.owner) var shelves: [Shelf] = []
  @Relationship(deleteRule: .nullify, inverse: \ReadingSession.reader)
  var sessions: [ReadingSession] = []

  init(handle: String) {
    self.handle = handle
  }
}

struct Goal: Codable, Hashable {
  var books: Int
  var year: Int
}

struct ReaderSettings: Codable, Equatable {
  enum Appearance: String, Codable { case light, dark, system }

  var appearance = Appearance.system
  var remindsDaily = false
  var dailyPages: Int?
}
