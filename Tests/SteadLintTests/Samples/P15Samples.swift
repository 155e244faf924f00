extension RuleSamples {
  static let p15 = RuleSamples(
    rule: "P15",
    flagged: [
      """
      @Model class Note {
        @Attribute(.unique) var id = UUID() // !
      }
      let c = try ModelContainer(for: Note.self, configurations: ModelConfiguration(cloudKitDatabase: .automatic))
      """,
      """
      @Model class Note {
        @Attribute(.unique, originalName: "a") var id: UUID? // !
      }
      // file: App.entitlements
      \(Lists.cloudKit)
      // file: Main.swift
      struct Main: App { var body: some Scene { WindowGroup {}.modelContainer(for: Note.self) } }
      """,
      """
      @Model class Folder { var notes: [Note]? }
      @Model class Note {
        @Attribute(.unique) var id = "" // !
        var folder: Folder?
      }
      let c = try ModelContainer(for: Folder.self, configurations: ModelConfiguration(cloudKitDatabase: .private("a")))
      """,
      """
      @Model final class Tag { // !
        #Unique<Tag>([\\.name])
        var name = ""
      }
      let c = try ModelContainer(for: Tag.self, configurations: ModelConfiguration(cloudKitDatabase: .automatic))
      """,
      """
      let schema = Schema([Note.self])
      let config = ModelConfiguration(schema: schema, cloudKitDatabase: .private("iCloud.a"))
      let c = try ModelContainer(for: schema, configurations: config)
      // file: Note.swift
      @Model class Note {
        @Attribute(.unique) var id = UUID() // !
      }
      """,
      """
      @Model class A {
        @Attribute(.externalStorage, .unique) var a: Data? // !
        @Attribute(.unique) var b: Int? // !
      }
      // file: X.entitlements
      \(Lists.cloudKit)
      // file: Main.swift
      let c = try ModelContainer(for: A.self)
      """,
    ],
    silent: [
      """
      @Model class Note { @Attribute(.unique) var id = UUID() }
      let c = try ModelContainer(for: Note.self)
      // file: App.entitlements
      \(Lists.cloudKitWithoutContainer)
      """,
      "@Model class Note { @Attribute(.unique) var id = UUID() }\nlet c = try ModelContainer(for: Note.self)",
      """
      @Model class Note { @Attribute(.unique) var id = UUID() }
      let c = try ModelContainer(for: Note.self, configurations: ModelConfiguration(cloudKitDatabase: .none))
      // file: App.entitlements
      \(Lists.cloudKit)
      """,
      """
      @Model class Note { @Attribute(.unique) var id = UUID() }
      let c = try ModelContainer(for: Note.self)
      // file: App.entitlements
      \(Lists.sandbox)
      """,
      """
      @Model class Note { var id = UUID() }
      let c = try ModelContainer(for: Note.self, configurations: ModelConfiguration(cloudKitDatabase: .automatic))
      """,
      """
      @Model class Local { @Attribute(.unique) var id = UUID() }
      @Model class Note { var id = UUID() }
      let c = try ModelContainer(for: Note.self, configurations: ModelConfiguration(cloudKitDatabase: .automatic))
      """,
      """
      @Model class Note { @Attribute(.unique) var id = UUID() }
      #Preview { try! ModelContainer(for: Note.self, configurations: ModelConfiguration(cloudKitDatabase: .automatic)) }
      """,
      "@Model class Note { @Attribute(.unique) var id = UUID() }\n// file: App.entitlements\n\(Lists.cloudKit)",
    ])
}

/// Property lists for samples.
enum Lists {
  private static let service =
    "<key>com.apple.developer.icloud-services</key><array><string>CloudKit</string></array>"
  private static let containers = "<key>com.apple.developer.icloud-container-identifiers</key>"
  static let cloudKit = list(service + containers + "<array><string>iCloud.a</string></array>")
  static let cloudKitWithoutContainer = list(service + containers + "<array/>")
  static let sandbox = list("<key>com.apple.security.app-sandbox</key><true/>")

  private static func list(_ content: String) -> String {
    #"<?xml version="1.0"?><plist version="1.0"><dict>"# + content + "</dict></plist>"
  }
}
