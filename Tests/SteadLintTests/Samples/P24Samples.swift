/// The forced try below is text that the linter reads, as apps have it, and is never compiled.
extension RuleSamples {
  static let p24 = RuleSamples(
    rule: "P24",
    flagged: [
      #"""
      func keep(_ draft: Draft, at url: URL) throws {
        let data = try! NSKeyedArchiver.archivedData(withRootObject: draft, requiringSecureCoding: false)
        try data.write(to: url) // !
      }
      """#,
      "func save() throws { try JSONEncoder().encode(items).write(to: url) } // !",
      """
      func save() throws {
        let data = try JSONEncoder().encode(items)
        try data.write(to: fileURL) // !
      }
      """,
      """
      func save() {
        let encoder = JSONEncoder()
        guard let data = try? encoder.encode(items) else { return }
        try? data.write(to: url) // !
      }
      """,
      """
      func keep() {
        let url = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask)[0].appending(path: "a") // ?
        UserDefaults.standard.set(url.path, forKey: "last") // !
      }
      """,
      """
      func save(_ archive: A) throws {
        let data = try NSKeyedArchiver.archivedData(withRootObject: archive, requiringSecureCoding: true)
        try data.write(to: place) // !
      }
      """,
      """
      func keep(defaults: UserDefaults) {
        let url = manager.urls(for: .applicationSupportDirectory, in: .userDomainMask).first!
        defaults.set(url.absoluteString, forKey: "folder") // !
      }
      """,
      "let c = ModelConfiguration(url: URL.cachesDirectory.appending(path: \"a.store\")) // !",
      """
      func open() {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("a.store")
        let configuration = ModelConfiguration(url: url) // !
      }
      """,
      """
      func saveDrafts() throws {
        let url = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first!.appending(path: "drafts.json")
        try JSONEncoder().encode(drafts).write(to: url, options: .atomic) // !
      }
      """,
      "let url = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask)[0] // ?",
      """
      func save() throws {
        try JSONEncoder().encode(x).write(to: URL.cachesDirectory.appending(path: "notes.json"), options: .atomic) // !
      }
      """,
    ],
    silent: [
      #"""
      final class Odds {
        static let path = Path.cache + "/odds"
        func keep(id: Int) throws {
          let url = URL(fileURLWithPath: Odds.path + "/\(id).json")
          let data = try JSONEncoder().encode(self)
          try data.write(to: url)
        }
      }
      """#,
      """
      func save() throws {
        try JSONEncoder().encode(x).write(to: URL.cachesDirectory.appending(path: "feed.json"), options: .atomic)
      }
      """,
      "let c = ModelConfiguration(url: URL.applicationSupportDirectory.appending(path: \"a.store\"))",
      "func openCache() { let c = ModelConfiguration(url: URL.cachesDirectory.appending(path: \"a.store\")) }",
      "let url = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first; let a = list[0]",
      "func save() throws { try JSONEncoder().encode(items).write(to: url, options: .atomic) }",
      "func save() throws { try JSONEncoder().encode(items).write(to: cacheURL) }",
      "func exportAll() throws { try JSONEncoder().encode(items).write(to: url) }",
      "func save(_ download: Data) throws { try download.write(to: url) }",
      """
      func save() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "a")
        try JSONEncoder().encode(items).write(to: url)
      }
      """,
      "func keep(_ url: URL) { UserDefaults.standard.set(url.lastPathComponent, forKey: \"last\") }",
      "func keep(_ url: URL) { UserDefaults.standard.set(url.path, forKey: \"chosen\") }",
      "func send() { try encoder.encode(x).write(to: &stream) }; func log() { stream.write(to: out) }",
      #"""
      struct Convert: ParsableCommand {
        @Option var output: URL
        func run() throws { try JSONEncoder().encode(items).write(to: output) }
      }
      """#,
    ])
}
