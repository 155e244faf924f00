extension RuleSamples {
  static let p05 = RuleSamples(
    rule: "P05",
    flagged: [
      "extension Array: RawRepresentable where Element: Codable {} // !",
      "extension Array: @retroactive RawRepresentable where Element: Codable {} // !",
      "extension Set: RawRepresentable where Element: Codable {} // !",
      "extension Date: RawRepresentable { public var rawValue: String { \"\" } } // !",
      "extension Dictionary: RawRepresentable where Key == String, Value == String {} // !",
      "extension Foundation.Date: @retroactive RawRepresentable {} // !",
      "extension [String]: @retroactive RawRepresentable {} // !",
      """
      extension Array: RawRepresentable where Element: RawRepresentable<Int> { // !
        init?(rawValue: String) {
          guard let numbers = Self(rawValue) else { return nil }
          self = numbers
        }
      }
      """,
    ],
    silent: [
      "extension Tag: RawRepresentable {}",
      "struct Keys: RawRepresentable { var rawValue: String }",
      "extension Array: Identifiable where Element: Hashable {}",
      "enum Theme: String { case dark }",
      "extension Date { var rawValue: String { \"\" } }",
      "extension ArraySlice: RawRepresentable {}",
      "struct Tags: OptionSet { let rawValue: Int }",
      """
      extension Array: RawRepresentable where Element: RawRepresentable<String> {
        init?(rawValue: String) { self = rawValue.split(separator: ",").compactMap { Element(rawValue: String($0)) } }
        var rawValue: String { map(\\.rawValue).joined(separator: ",") }
      }
      """,
    ])

  private static let store = """

    func save(_ entries: [Entry]) throws {
      UserDefaults.standard.set(try JSONEncoder().encode(entries), forKey: "entries")
    }
    """

  /// What is behind `// later` is the next version of what is in front.
  static let p06 = RuleSamples(
    rule: "P06",
    flagged: [
      "struct Entry: Codable { var text: String }" + store + """

        // later
        struct Entry: Codable {
          var text: String
          var isPinned: Bool // !
        }
        """ + store,
      "struct Entry: Codable { var text: String }" + store + """

        // later
        struct Entry: Codable {
          var text: String
          var isPinned = false // !
        }
        """ + store,
      "struct Entry: Codable { var place: Place }\nstruct Place: Codable { var name: String }"
        + store + """

          // later
          struct Entry: Codable { var place: Place }
          struct Place: Codable {
            var name: String
            let country: String // !
          }
          """ + store,
      """
      func load() throws -> [String: Entry] {
        try JSONDecoder().decode([String: Entry].self, from: UserDefaults.standard.data(forKey: "a")!)
      }
      struct Entry: Decodable { var text: String }
      // later
      func load() throws -> [String: Entry] {
        try JSONDecoder().decode([String: Entry].self, from: UserDefaults.standard.data(forKey: "a")!)
      }
      struct Entry: Decodable {
        var text: String
        var tags: [String] // !
      }
      """,
      """
      @Model final class Trip { var place = Place(name: "") }
      struct Place: Codable { var name: String }
      // later
      @Model final class Trip { var place = Place(name: "", height: 0) }
      // file: Place.swift
      struct Place: Codable {
        var name: String
        var height: Double // !
      }
      """,
      """
      struct Entry: Codable { var text: String; var mood = 1; enum CodingKeys: CodingKey { case text } }
      func save(_ entry: Entry, to url: URL) throws { try JSONEncoder().encode(entry).write(to: url) }
      // later
      struct Entry: Codable {
        var text: String
        var mood = 1 // !
        enum CodingKeys: CodingKey { case text, mood }
      }
      func save(_ entry: Entry, to url: URL) throws { try JSONEncoder().encode(entry).write(to: url) }
      """,
    ],
    silent: [
      "struct Entry: Codable { var text: String }" + store,
      "struct Entry: Codable { var text: String }" + store
        + "\n// later\nstruct Entry: Codable { var text: String; var isPinned: Bool? }" + store,
      "struct Entry: Codable { var text: String }" + store
        + "\n// later\nstruct Entry: Codable { var text: String; let version = 2; static let a = 1; var n: Int { 1 } }"
        + store,
      "struct Entry: Codable { var text: String }" + store + """

        // later
        struct Entry: Codable {
          var text: String
          var isPinned: Bool
          init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            text = try container.decode(String.self, forKey: .text)
            isPinned = try container.decodeIfPresent(Bool.self, forKey: .isPinned) ?? false
          }
        }
        """ + store,
      "struct Entry: Codable { var text: String; var mood: Int }" + store
        + "\n// later\nstruct Entry: Codable { var text: String }" + store,
      """
      struct Login: Codable { var name: String }
      func send(_ login: Login) throws { request.httpBody = try JSONEncoder().encode(login) }
      // later
      struct Login: Codable { var name: String; var device: String }
      func send(_ login: Login) throws { request.httpBody = try JSONEncoder().encode(login) }
      """,
      "struct Entry: Codable { var text: String }" + store
        + "\n// later\nstruct Entry: Codable { var text: String; var tag: Tag? }\nstruct Tag: Codable { var name: String }"
        + store,
    ])

  static let p07 = RuleSamples(
    rule: "P07",
    flagged: [
      #"""
      func save() throws { defaults.set(try JSONEncoder().encode(entries), forKey: "entries") } // !
      func load() throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        entries = try decoder.decode([Entry].self, from: defaults.data(forKey: "entries")!)
      }
      """#,
      #"""
      struct Entry: Codable { var date: Date }
      func save() throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        let data = try encoder.encode(entries) // !
        defaults.set(data, forKey: "entries")
      }
      func load() throws -> [Entry] {
        try JSONDecoder().decode([Entry].self, from: defaults.data(forKey: "entries")!)
      }
      """#,
      #"""
      final class Store {
        let url: URL
        func save() throws {
          let encoder = JSONEncoder()
          encoder.dateEncodingStrategy = .iso8601
          try encoder.encode(items).write(to: url) // !
        }
        func load() throws { items = try JSONDecoder().decode([Item].self, from: Data(contentsOf: url)) }
      }
      """#,
      #"""
      enum Keys { static let log = "log" }
      func save() throws { defaults.set(try JSONEncoder().encode(log), forKey: Keys.log) } // !
      // file: Loading.swift
      func load() throws -> Log {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .millisecondsSince1970
        return try decoder.decode(Log.self, from: defaults.data(forKey: "log")!)
      }
      // file: Log.swift
      struct Log: Codable { var lines: [Line] }
      struct Line: Codable { var time: Date? }
      """#,
      #"""
      var state: State {
        get {
          let decoder = JSONDecoder()
          decoder.dateDecodingStrategy = .iso8601
          return (try? decoder.decode(State.self, from: defaults.data(forKey: "state")!)) ?? State()
        }
        set { defaults.set(try? JSONEncoder().encode(newValue), forKey: "state") } // !
      }
      """#,
      #"""
      func save() throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = JSONEncoder.DateEncodingStrategy.iso8601
        defaults.set(try encoder.encode(x), forKey: "x") // !
      }
      func load() throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        x = try decoder.decode(X.self, from: defaults.data(forKey: "x")!)
      }
      """#,
    ],
    silent: [
      #"""
      func save() throws { defaults.set(try JSONEncoder().encode(e), forKey: "e") }
      func load() throws { e = try JSONDecoder().decode(E.self, from: defaults.data(forKey: "e")!) }
      """#,
      #"""
      func save() throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        defaults.set(try encoder.encode(e), forKey: "e")
      }
      func load() throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        e = try decoder.decode(E.self, from: defaults.data(forKey: "e")!)
      }
      """#,
      #"""
      func save() throws { defaults.set(try encoder.encode(e), forKey: "e") }
      func load() throws { e = try JSONDecoder().decode(E.self, from: defaults.data(forKey: "e")!) }
      """#,
      #"""
      func save() throws { defaults.set(try JSONEncoder().encode(e), forKey: "one") }
      func load() throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        e = try decoder.decode(E.self, from: defaults.data(forKey: "other")!)
      }
      """#,
      #"""
      struct Name: Codable { var first: String; var count: Int }
      func save() throws { defaults.set(try JSONEncoder().encode(name), forKey: "name") }
      func load() throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        name = try decoder.decode(Name.self, from: defaults.data(forKey: "name")!)
      }
      """#,
      #"""
      func save() throws { defaults.set(try JSONEncoder().encode(e), forKey: "e") }
      func load() throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { try any($0) }
        e = try decoder.decode(E.self, from: defaults.data(forKey: "e")!)
      }
      """#,
      #"""
      enum Store {
        static func saveNames(_ names: Names, to url: URL) throws { try JSONEncoder().encode(names).write(to: url) }
        static func loadIndex(_ url: URL) throws -> Names {
          let decoder = JSONDecoder()
          decoder.dateDecodingStrategy = .iso8601
          return try decoder.decode(Names.self, from: Data(contentsOf: url))
        }
      }
      """#,
      #"""
      final class Store {
        let url: URL
        func save(_ names: Names) throws { try JSONEncoder().encode(names).write(to: url) }
        func load() throws -> Entries {
          let decoder = JSONDecoder()
          decoder.dateDecodingStrategy = .iso8601
          return try decoder.decode(Entries.self, from: Data(contentsOf: url))
        }
      }
      """#,
    ])
}
