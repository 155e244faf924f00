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

  private static let models = "\n@Model class A { var n = 1 }\n@Model class B { var n = 1 }\n"
  private static let manifest = """

    // file: Package.swift
    let package = Package(name: "Tool", targets: [.executableTarget(name: "Tool"), .target(name: "Kit")])

    """

  static let p25 = RuleSamples(
    rule: "P25",
    flagged: [
      """
      struct V: View {
        @Environment(\\.modelContext) private var modelContext
        func clean() {
          Task.detached {
            try modelContext.delete(model: A.self) // !
          }
        }
      }
      """,
      """
      func load(context: ModelContext) {
        DispatchQueue.global(qos: .utility).async {
          _ = try? context.fetch(FetchDescriptor<A>()) // !
        }
      }
      """,
      """
      final class Importer {
        let context: ModelContext
        init(context: ModelContext) { self.context = context }
        func run() {
          Task.detached(priority: .background) {
            self.context.insert(A()) // !
            try self.context.save()
          }
        }
      }
      """,
      "@Model final class A { var n = 1 }\nextension A: @unchecked Sendable {} // !",
      "extension ModelContext: @retroactive @unchecked Sendable {} // !",
      "@Model final class A: @unchecked Sendable { var n = 1 } // !",
      manifest + "// file: Sources/Tool/main.swift\nlet c = try ModelContainer(for: A.self) // !"
        + models,
      "let a = try ModelContainer(for: A.self)" + models
        + "// file: Other.swift\nlet b = try ModelContainer(for: B.self) // !",
    ],
    silent: [
      """
      func clean(container: ModelContainer) {
        Task.detached {
          let context = ModelContext(container)
          try context.delete(model: A.self)
        }
      }
      """,
      """
      struct V: View {
        @Environment(\\.modelContext) private var modelContext
        func clean() {
          Task { try modelContext.delete(model: A.self) }
          Task.detached { @MainActor in modelContext.insert(A()) }
          Task.detached { await MainActor.run { modelContext.insert(A()) } }
        }
      }
      """,
      """
      struct V: View {
        @Environment(\\.modelContext) private var modelContext
        func clean() {
          let container = modelContext.container
          Task.detached { await Cleaner(modelContainer: container).clean() }
        }
      }
      """,
      """
      func draw(context: CGContext) {
        DispatchQueue.global().async { context.fill(rect) }
      }
      """,
      manifest + "// file: Sources/Kit/Kit.swift\nlet c = try ModelContainer(for: A.self)" + models,
      manifest
        + "// file: Sources/Tool/main.swift\nlet c = try ModelContainer(for: A.self, configurations: ModelConfiguration(url: url))"
        + models,
      "let a = try ModelContainer(for: A.self)" + models
        + "// file: Other.swift\nlet b = try ModelContainer(for: B.self, configurations: .init(isStoredInMemoryOnly: true))",
      "let a = try ModelContainer(for: A.self)" + models
        + "// file: Other.swift\nlet b = try ModelContainer(for: B.self, configurations: ModelConfiguration(\"b\"))",
      "final class A: @unchecked Sendable { let lock = NSLock() }\nextension Cache: @unchecked Sendable {}",
    ])
}
