extension RuleSamples {
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
