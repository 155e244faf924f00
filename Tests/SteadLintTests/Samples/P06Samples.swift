extension RuleSamples {
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
}
