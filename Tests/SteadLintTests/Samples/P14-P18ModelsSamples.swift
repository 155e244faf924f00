extension RuleSamples {
  static let p14 = RuleSamples(
    rule: "P14",
    flagged: [
      "@Model class A { var mediaRaw: Data? } // ?",
      """
      @Model class Person {
        var photo: Data? // !
      }
      """,
      """
      @Model class Person {
        @Attribute(.unique) var thumbnailData: Data // !
        init(d: Data) { thumbnailData = d }
      }
      """,
      """
      @Model class Note {
        var audioRecording = Data() // !
        var options: Data? // ?
      }
      """,
      "@Model class Item { var value: Data? } // !",
      """
      @Model class Scan {
        public var pdf: Data? = nil // !
      }
      """,
      """
      @Model class Clip {
        @Attribute(originalName: "picture") var image: Data? // !
      }
      """,
      #"""
      @Model final class CachedImage {
        var name = ""
        var image: Data? // ?
      }
      """#,
      #"""
      @Model final class Transcript {
        @Attribute(.unique) var youtubeId: String
        var data: Data // ?
        var updated: Date
      }
      """#,
    ],
    silent: [
      "@Model class A { var mediaMetadata: String = \"\"; var photoKey: Data? }",
      "@Model class A { @Attribute(.externalStorage) var photo: Data? }",
      "@Model class A { var publicKey: Data?; var hash = Data(); var fileBookmark: Data? }",
      "@Model class A { @Transient var photo: Data? }",
      "class A { var photo: Data? }",
      "@Model class A { var photo: String?; var imageName = \"\" }",
      "@Model class A { var photo: Data? { nil } }",
      "@Model class A { @Attribute(.transformable(by: T.self)) var image: Data? }",
    ])

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

  private static let container =
    "\nlet c = try ModelContainer(for: A.self, configurations: ModelConfiguration(cloudKitDatabase: .automatic))"

  private static let main =
    "\n// file: Main.swift\nlet c = try ModelContainer(for: A.self, configurations: ModelConfiguration(cloudKitDatabase: .automatic))"

  static let p16 = RuleSamples(
    rule: "P16",
    flagged: [
      "@Model class A { var title: String } // !" + container,
      """
      @Model class A {
        var date: Date // !
        public var id: UUID // !
        var tags: [String] // !
      }
      """ + container,
      """
      @Model class A {
        @Relationship(deleteRule: .deny, inverse: \\B.a) var bs: [B]? // !
      }
      @Model class B { var a: A? }
      """ + container,
      """
      @Model class A {
        var bs: [B] = [] // !
      }
      @Model class B { var a: A? }
      """ + container,
      """
      @Model class A { var b: B? }
      @Model class B {
        var count: Int // !
        var kind: Kind // !
      }
      """ + container,
      """
      @Model class A { var isDone: Bool } // !
      // file: App.entitlements
      \(Lists.cloudKit)
      // file: Main.swift
      let c = try ModelContainer(for: A.self)
      """,
      // The first project lists the file, and the second one has whole folders.
      """
      // file: Old/Store.swift
      @Model class A { var isDone: Bool } // !
      // file: App.xcodeproj/project.pbxproj
      /* A1 */ = {isa = PBXFileReference; path = "Old/Store.swift"; sourceTree = G; };
      /* A2 */ = {isa = PBXFileReference; path = Main.swift; sourceTree = G; };
      """ + main,
      """
      // file: Old/Store.swift
      @Model class A { var isDone: Bool } // !
      // file: App.xcodeproj/project.pbxproj
      /* A1 */ = {isa = PBXFileReference; path = Main.swift; sourceTree = G; };
      // file: Other.xcodeproj/project.pbxproj
      isa = PBXFileSystemSynchronizedRootGroup; path = Old;
      """ + main,
      // Projects that can't be read, list no Swift file, are in another folder, or write the name otherwise.
      """
      // file: Old/Store.swift
      @Model class A { var isDone: Bool } // !
      // file: App.xcodeproj/project.pbxproj
      <?xml version="1.0"?><plist><dict><key>path</key><string>Main.swift</string></dict></plist>
      // file: Other.xcodeproj/project.pbxproj
      /* A1 */ = {isa = PBXFileReference; path = AppDelegate.m; sourceTree = G; };
      // file: Example/Example.xcodeproj/project.pbxproj
      /* A1 */ = {isa = PBXFileReference; path = View.swift; sourceTree = G; };
      """ + main,
      """
      // file: Old/Store.swift
      @Model class A { var isDone: Bool } // !
      // file: App.xcodeproj/project.pbxproj
      /* A1 */ = {isa = PBXFileReference; path = store.swift; sourceTree = G; };
      /* A2 */ = {isa = PBXFileReference; path = Main.swift; sourceTree = G; };
      """ + main,
      """
      // file: Pod/Store.swift
      @Model class A { var isDone: Bool } // !
      // file: Pod/Kit.podspec
      Pod::Spec.new do |s|
      // file: App.xcodeproj/project.pbxproj
      /* A1 */ = {isa = PBXFileReference; path = Main.swift; sourceTree = G; };
      """ + main,
      """
      // file: Kit/Sources/Store.swift
      @Model class A { var isDone: Bool } // !
      // file: Kit/Package.swift
      let package = Package(name: "Kit")
      // file: App.xcodeproj/project.pbxproj
      /* A1 */ = {isa = PBXFileReference; path = Main.swift; sourceTree = G; };
      """ + main,
    ],
    silent: [
      """
      // file: Old/Store.swift
      @Model class A { var isDone: Bool }
      // file: App.xcodeproj/project.pbxproj
      /* A1 */ = {isa = PBXFileReference; path = Main.swift; sourceTree = G; };
      """ + main,
      "@Model class A { var title: String = \"\"; var date = Date() }" + container,
      "@Model class A { var title: String?; @Transient var x: Int; var y: Int { 1 } }" + container,
      "@Model class A { var bs: [B]? }\n@Model class B { var a: A? }" + container,
      "@Model class A { var title: String }\nlet c = try ModelContainer(for: A.self)",
      """
      @Model class A { var title: String }
      let c = try ModelContainer(for: A.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
      // file: App.entitlements
      \(Lists.cloudKit)
      """,
      "class B { var title: String }\n@Model class A { static let x: Int; var t = 1 }" + container,
      "@Model class Z { var title: String }\n@Model class A { var t = 1 }" + container,
    ])

  static let p17 = RuleSamples(
    rule: "P17",
    flagged: [
      "@Model class Folder: Codable { var notes: [Note] = [] } // ?\n@Model class Note { var title = \"\" }",
      """
      @Model class Folder: Codable { var notes: [Note] = [] } // !
      @Model class Note { var title = "" }
      let c = try ModelContainer(for: Folder.self, configurations: ModelConfiguration(cloudKitDatabase: .automatic))
      """,
      "@Model class Folder { var notes: [Note] = [] } // !\n@Model class Note { var title = \"\" }",
      """
      @Model class Folder {
        @Relationship(deleteRule: .cascade) var notes: [Note]? // !
      }
      // file: Note.swift
      @Model class Note { var title = "" }
      """,
      """
      @Model class Team {
        var games: [Game] = [] // !
      }
      @Model class Game { var home: Team?; var guest: Team? }
      """,
      #"""
      @Model class A { @Relationship(inverse: \B.a) var bs: [B] = [] }
      @Model class B {
        @Relationship(inverse: \A.bs) var a: A? // !
      }
      """#,
      #"""
      @Model class A { @Relationship(deleteRule: .cascade, inverse: \B.a) var bs: [B] = [] }
      @Model class B {
        @Relationship(deleteRule: .nullify, inverse: \A.bs) var a: A? // !
      }
      """#,
      "@Model class Tag {\n var children: [Tag] = [] // !\n}",
      "@Model class A { var items: Array<B> = [] } // !\n@Model class B { var c: C? }\n@Model class C { var b: B? }",
    ],
    silent: [
      #"@Model class A { @Relationship(inverse: \B.a) var bs: [B] = [] }"#
        + "\n@Model class B { var a: A? }",
      "@Model class A { var bs: [B] = [] }\n@Model class B { var a: A? }",
      "@Model class A { var bs: [B] = [] }\n"
        + #"@Model class B { @Relationship(inverse: \A.bs) var a: A? }"#,
      "@Model class A { var tags: [String] = []; var kinds: [Kind] = [] }\nenum Kind: Codable { case a }",
      "@Model class A { var b: B? }\n@Model class B { var title = \"\" }",
      #"""
      @Model class Team {
        @Relationship(inverse: \Game.home) var homeGames: [Game] = []
        @Relationship(inverse: \Game.guest) var guestGames: [Game] = []
      }
      @Model class Game { var home: Team?; var guest: Team? }
      """#,
      "@Model class A { @Transient var bs: [B] = [] }\n@Model class B { var title = \"\" }",
      "@Model class Tag { var parent: Tag?; var children: [Tag] = [] }",
    ])

  static let p18 = RuleSamples(
    rule: "P18",
    flagged: [
      "@Model class Order { var lines: [Line] = [] } // !\n@Model class Line { var order: Order }",
      #"""
      @Model class Order {
        @Relationship(deleteRule: .nullify, inverse: \Line.order) var lines: [Line] = [] // !
      }
      @Model class Line { var order: Order }
      """#,
      #"""
      @Model class A {
        @Relationship(deleteRule: .noAction, inverse: \B.a) var bs: [B]? // !
      }
      @Model class B { var a: A? }
      """#,
      "@Model class A { var bs: [B]? } // ?\n@Model class B { var a: A? }",
      #"@Model class A { @Relationship(inverse: \B.a) var bs: [B] = [] } // ?"#
        + "\n@Model class B { var a: A? }",
      "@Model class A { @Relationship(deleteRule: .noAction) var b: B? } // !\n@Model class B { var x = 1 }",
      "@Model class A { var bs: [B] = [] } // !\n// file: B.swift\n@Model class B { var owner: A; var n = 1 }",
    ],
    silent: [
      "@Model class A { @Relationship(deleteRule: .cascade) var bs: [B] = [] }\n@Model class B { var a: A }",
      "@Model class A { @Relationship(deleteRule: .nullify) var bs: [B] = [] }\n@Model class B { var a: A? }",
      "@Model class A { var b: B? }\n@Model class B { var title = \"\" }",
      "@Model class A { var names: [String] = [] }",
      "@Model class A { @Relationship(deleteRule: .deny) var bs: [B] = [] }\n@Model class B { var a: A }",
      "class A { var bs: [B] = [] }\n@Model class B { var title = \"\" }",
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
