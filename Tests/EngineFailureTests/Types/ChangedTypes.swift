/// The models of an app as they were: each has its twin in ``Later``, of the same name.
enum Earlier {
  enum Kind: String, Codable { case paper, ebook, audio }

  struct Layout: Codable, Equatable {
    var columns = 1
  }

  struct Settings: Codable, Equatable {
    var volume = 3
    var layout = Layout()
    var limits = ["a": 1]
    var hint: String? = "first"
  }

  struct Note: Codable, Equatable { var text = "" }

  enum Rating: Codable, Equatable {
    case none
    case stars(Int)
    case text(words: String)
  }

  @Model final class Book {
    var title = ""
    var kind = Kind.paper
    var settings = Settings()
    var notes: [Note] = []
    var rating = Rating.none

    init(title: String) { self.title = title }
  }

  @Model final class Reading {
    var value = 0.0
    var optional: Double?

    init(_ value: Double) { self.value = value }
  }

  @Model final class Picture {
    @Attribute(.externalStorage) var data: Data?
    @Attribute(.externalStorage) var other: Data?

    init(_ data: Data?) { self.data = data }
  }
}

/// The models of ``Earlier`` with types that can read every value of theirs.
enum Later {
  enum Kind: String, Codable { case audio, ebook, paper, scroll }

  struct Layout: Codable, Equatable {
    var columns = 1
    var isWide = true
  }

  struct Settings: Codable, Equatable {
    var volume = 7
    var layout = Layout()
    var limits = ["z": 9]
    var hint: String? = "second"
    var theme = "plain"
  }

  struct Note: Codable, Equatable {
    var text = ""
    var author: String?
  }

  enum Rating: Codable, Equatable {
    case none
    case stars(Int)
    case text(words: String)
    case both(Int, String)
  }

  @Model final class Book {
    var title = ""
    var kind = Kind.paper
    var settings = Settings()
    var notes: [Note] = []
    var rating = Rating.none

    init(title: String) { self.title = title }
  }

  @Model final class Reading {
    var value: Float = 0
    var optional: Float?

    init(_ value: Float) { self.value = value }
  }

  @Model final class Picture {
    var data: Data?

    init(_ data: Data?) { self.data = data }
  }
}

/// The books of ``Earlier``, each class with one type that some values are not of.
enum Other {
  enum NoEbook {
    enum Kind: String, Codable { case paper, audio }
    @Model final class Book {
      var title = ""
      var kind = Kind.paper
      init() {}
    }
  }

  enum NoDefault {
    struct Settings: Codable {
      var volume: Int
      var theme: String
    }
    @Model final class Book {
      var title = ""
      var settings: Settings
      init(settings: Settings) { self.settings = settings }
    }
  }

  enum OtherField {
    struct Settings: Codable { var volume = "loud" }
    @Model final class Book {
      var title = ""
      var settings = Settings()
      init() {}
    }
  }

  enum Elements {
    struct Note: Codable {
      var text = ""
      var author = ""
    }
    @Model final class Book {
      var title = ""
      var notes: [Note] = []
      init() {}
    }
  }

  enum Payload {
    enum Rating: Codable {
      case none
      case stars(Int)
      case text(sentence: String)
    }
    @Model final class Book {
      var title = ""
      var rating = Rating.none
      init() {}
    }
  }

  enum NewProperty {
    @Model final class Book {
      var title = ""
      var kind = Earlier.Kind.paper
      var settings = Earlier.Settings()
      var notes: [Earlier.Note] = []
      var rating = Earlier.Rating.none
      var pages = 0
      init() {}
    }
  }
}
