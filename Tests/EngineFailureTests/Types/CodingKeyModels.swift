/// Types as they were, whose twins of the same names in ``Rekeyed`` have other coding keys.
enum Keyed {
  struct Note: Codable, Hashable { var text = "" }

  enum Mark: Codable, Hashable {
    case none
    case stars(Int)
    case text(words: String)
    case note(Note)
  }

  struct Geo: Codable, Hashable {
    var note: Note?
    var mark = Mark.none
  }

  struct Level: Codable, Hashable, Comparable {
    var height = 0
    static func < (left: Self, right: Self) -> Bool { left.height < right.height }
  }

  struct Box<Value: Codable & Hashable>: Codable, Hashable { var value: Value }

  @Model final class Book {
    var title = ""
    var notes: [Note] = []
    init() {}
  }

  @Model final class Index {
    var title = ""
    var notes: [String: Note] = [:]
    init() {}
  }

  @Model final class Place {
    var title = ""
    var geo = Geo()
    init() {}
  }

  @Model final class Review {
    var title = ""
    var mark = Mark.none
    init() {}
  }

  @Model final class Shelf {
    var title = ""
    var notes: ContiguousArray<Note> = []
    init() {}
  }

  @Model final class Scale {
    var title = ""
    var range: ClosedRange<Level>?
    init() {}
  }
}

enum Rekeyed {
  struct Note: Codable, Hashable {
    var text = ""
    enum CodingKeys: String, CodingKey { case text = "body" }
  }

  enum Mark: Codable, Hashable {
    case none
    case stars(Int)
    case text(words: String)
    case note(Note)

    enum CodingKeys: String, CodingKey {
      case none, note, text
      case stars = "points"
    }
  }

  /// The keys of a payload alone are others.
  enum Payload: Codable, Hashable {
    case none
    case stars(Int)
    case text(words: String)
    case note(Note)

    enum TextCodingKeys: String, CodingKey { case words = "sentence" }
  }

  struct Geo: Codable, Hashable {
    var note: Note?
    var mark = Keyed.Mark.none
  }

  struct Level: Codable, Hashable, Comparable {
    var height = 0
    enum CodingKeys: String, CodingKey { case height = "metres" }
    static func < (left: Self, right: Self) -> Bool { left.height < right.height }
  }

  @Model final class Book {
    var title = ""
    var notes: [Note] = []
    init() {}
  }

  @Model final class Index {
    var title = ""
    var notes: [String: Note] = [:]
    init() {}
  }

  @Model final class Place {
    var title = ""
    var geo = Geo()
    init() {}
  }

  @Model final class Review {
    var title = ""
    var mark = Mark.none
    init() {}
  }

  @Model final class Shelf {
    var title = ""
    var notes: ContiguousArray<Note> = []
    init() {}
  }

  @Model final class Scale {
    var title = ""
    var range: ClosedRange<Level>?
    init() {}
  }
}
