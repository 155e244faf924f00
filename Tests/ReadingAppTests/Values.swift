import Foundation

enum ReadingStatus: String, Codable, CaseIterable, Identifiable {
  case wishlist, reading, paused, finished

  var id: Self { self }
  var isOpen: Bool { self == .reading || self == .paused }
}

enum BookFormat: Int, Codable {
  case paperback, hardcover, ebook, audio
}

enum Mood: String, Codable { case focused, tired, thrilled }

/// One to five stars.
struct Rating: RawRepresentable, Codable, Hashable, Comparable {
  let rawValue: Int

  init?(rawValue: Int) {
    guard (1...5).contains(rawValue) else { return nil }
    self.rawValue = rawValue
  }

  static func < (left: Rating, right: Rating) -> Bool { left.rawValue < right.rawValue }
}

struct Edition: Codable, Hashable {
  var publisher: String
  var year: Int?
  var language: String = "en"
}
