extension RuleSamples {
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
