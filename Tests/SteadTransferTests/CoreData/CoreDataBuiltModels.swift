import Foundation
import SwiftData

/// The models of stores that the tests build.
enum Music {
  @Model final class Playlist {
    var name: String
    @Relationship(inverse: \Track.playlists) var tracks: [Track] = []
    init(name: String) { self.name = name }
  }

  @Model final class Track {
    var name: String
    var playlists: [Playlist] = []
    var album: Album?
    init(name: String) { self.name = name }
  }

  @Model final class Album {
    var name: String
    @Relationship(inverse: \Track.album) var tracks: [Track] = []
    var notes: [Note] = []
    init(name: String) { self.name = name }
  }

  /// Nothing leads from it to its album.
  @Model final class Note {
    var text: String
    init(text: String) { self.text = text }
  }
}

enum Circle {
  @Model final class Member {
    var name: String
    var friends: [Member] = []
    var mentor: Member?
    @Relationship(inverse: \Member.mentor) var pupils: [Member] = []
    init(name: String) { self.name = name }
  }
}

enum Passports {
  @Model final class Holder {
    var name: String
    @Relationship(inverse: \Passport.holder) var passport: Passport?
    init(name: String) { self.name = name }
  }

  @Model final class Passport {
    var number: Int
    var holder: Holder?
    init(number: Int) { self.number = number }
  }
}

enum Gallery {
  @Model final class Photo {
    var name: String
    @Attribute(.externalStorage) var image: Data?
    var preview: Data?
    init(name: String) { self.name = name }
  }
}

enum Diary {
  enum Mood: String, Codable { case calm, bright }

  struct Place: Codable, Equatable {
    var city: String
    var height: Double
    var since: Date?
  }

  @Model final class Entry {
    var name: String
    var tags: [String] = []
    var numbers: [Int]?
    var mood: Mood?
    var place: Place?
    var link: URL?
    var price: Decimal?
    var isDone: Bool = false
    var date: Date?
    var identifier: UUID?
    init(name: String) { self.name = name }
  }
}

enum Storehouse {
  @Model class Item {
    var number: Int
    init(number: Int) { self.number = number }
  }

  @Model final class Box: Item {
    var title: String?
    override init(number: Int) { super.init(number: number) }
  }

  @Model final class Book: Item {
    var title: String?
    var box: Box?
    override init(number: Int) { super.init(number: number) }
  }
}
