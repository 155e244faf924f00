extension RuleSamples {
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
}
