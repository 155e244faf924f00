extension RuleSamples {
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
}
