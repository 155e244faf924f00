extension RuleSamples {
  private static func plan(_ names: String...) -> String {
    let stages = zip(names, names.dropFirst()).map {
      ".lightweight(fromVersion: \($0).self, toVersion: \($1).self)"
    }
    return """

      // file: Plan.swift
      enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [\(names.map { $0 + ".self" }.joined(separator: ", "))] }
        static var stages: [MigrationStage] { [\(stages.joined(separator: ", "))] }
      }
      """
  }

  private static func schema(
    _ name: String, _ number: Int, _ models: String, _ content: String = ""
  ) -> String {
    """
    enum \(name): VersionedSchema {
      static let versionIdentifier = Schema.Version(\(number), 0, 0)
      static var models: [any PersistentModel.Type] { \(models) }
      \(content)
    }

    """
  }

  static let p19 = RuleSamples(
    rule: "P19",
    flagged: [
      schema("V1", 1, "[Note.self] } // !\n  static var x: Int { 1")
        + schema("V2", 2, "[Note.self]") + "@Model class Note { var t = 1 }" + plan("V1", "V2"),
      schema(
        "V1", 1, "[V1.Note.self, Tag.self] } // !\n  static var x: Int { 1",
        "@Model class Note { var t = 1 }")
        + schema("V2", 2, "[V2.Note.self, Tag.self]", "@Model class Note { var t = 1 }")
        + "@Model class Tag { var n = 1 }" + plan("V1", "V2"),
      schema("V1", 1, "[V2.Note.self] } // !\n  static var x: Int { 1")
        + schema("V2", 2, "[Note.self]", "@Model class Note { var t = 1 }") + plan("V1", "V2"),
      schema("V1", 1, "[Note.self]", "@Model class Note { var t = 1 }")
        + schema("V2", 2, "[Note.self] } // !\n  static var x: Int { 1")
        + schema("V3", 3, "[Note.self]", "@Model class Note { var t = 1 }")
        + "typealias Note = V3.Note" + plan("V1", "V2", "V3"),
      schema("V1", 1, "[\n Note.self, // !\n Tag.self]")
        + schema("V2", 2, "[Note.self, Tag.self]")
        + "// file: Models.swift\n@Model class Note { var t = 1 }\n@Model class Tag { var t = 1 }"
        + plan("V1", "V2"),
      schema("V1", 1, "[Note.self] } // !\n  static var x: Int { 1")
        + schema("V2", 2, "[Note.self] } // !\n  static var x: Int { 1")
        + schema("V3", 3, "[Note.self]") + "@Model class Note { var t = 1 }"
        + plan("V1", "V2", "V3"),
      schema("CacheV1", 1, "[Note.self] } // ?\n  static var x: Int { 1")
        + schema("CacheV2", 2, "[Note.self]") + "@Model class Note { var t = 1 }"
        + plan("CacheV1", "CacheV2"),
    ],
    silent: [
      schema("V1", 1, "[Note.self]", "@Model class Note { var t = 1 }")
        + schema("V2", 2, "[Note.self]", "@Model class Note { var t = 1 }") + plan("V1", "V2"),
      schema("V1", 1, "[Note.self]") + "@Model class Note { var t = 1 }" + plan("V1"),
      schema("V1", 1, "[Note.self]") + "@Model class Note { var t = 1 }",
      schema("V1", 1, "[Note.self]")
        + schema("V2", 2, "[Note.self]", "@Model class Note { var t = 1 }")
        + "// file: V1+Note.swift\nextension V1 { @Model class Note { var t = 1 } }"
        + plan("V1", "V2"),
      schema("V1", 1, "[V1.Note.self]", "@Model class Note { var t = 1 }")
        + schema("V2", 2, "[V2.Note.self, Tag.self]", "@Model class Note { var t = 1 }")
        + "@Model class Tag { var n = 1 }" + plan("V1", "V2"),
      schema("V1", 1, "[Note.self]", "@Model class Note { var t = 1 }")
        + schema("V2", 2, "[V1.Note.self, Tag.self]", "@Model class Tag { var t = 1 }")
        + schema("V3", 3, "[Note.self]") + "@Model class Note { var t = 1 }"
        + plan("V1", "V2", "V3"),
      schema("V1", 1, "[Frozen.Note.self]") + schema("V2", 2, "[Note.self]")
        + "enum Frozen { @Model class Note { var t = 1 } }\n@Model class Note { var t = 1 }"
        + plan("V1", "V2"),
    ])

  private static func version(_ name: String, _ number: String, _ mark: String = "") -> String {
    """
    enum \(name): VersionedSchema {\(mark)
      static var versionIdentifier: Schema.Version { Schema.Version(\(number)) }
      static var models: [any PersistentModel.Type] { [] }
    }

    """
  }

  private static func plan(_ schemas: [String], stages: [(String, String)], _ mark: String = "")
    -> String
  {
    let list = stages.map { ".lightweight(fromVersion: \($0).self, toVersion: \($1).self)" }
    return """
      enum Plan: SchemaMigrationPlan {\(mark)
        static var schemas: [any VersionedSchema.Type] { [\(schemas.map { $0 + ".self" }.joined(separator: ", "))] }
        static var stages: [MigrationStage] { [\(list.joined(separator: ", "))] }
      }

      """
  }

  private static let two = version("V1", "1, 0, 0") + version("V2", "2, 0, 0")

  static let p20 = RuleSamples(
    rule: "P20",
    flagged: [
      two + plan(["V1", "V2"], stages: [], " // !"),
      two + version("V3", "3, 0, 0") + plan(["V1", "V2", "V3"], stages: [("V1", "V2")], " // !"),
      two + version("V3", "3, 0, 0", " // !") + plan(["V1", "V2"], stages: [("V1", "V2")]),
      version("V1", "1, 0, 0") + version("V2", "1, 0, 0", " // !")
        + plan(["V1", "V2"], stages: [("V1", "V2")]),
      two + plan(["V2", "V1"], stages: [("V2", "V1")], " // !"),
      version("V1", "1, 0, 0") + version("V2", "2, 0, 0", " // !"),
      two + version("V3", "3, 0, 0") + plan(["V1", "V2", "V3"], stages: [("V1", "V3")], " // !"),
      two + plan(["V1", "V2"], stages: [("V2", "V1")], " // !"),
    ],
    silent: [
      two + plan(["V1", "V2"], stages: [("V1", "V2")]),
      version("V1", "1, 0, 0"),
      version("V1", "1, 0, 0") + plan(["V1"], stages: []),
      two + """
        enum Plan: SchemaMigrationPlan {
          static let schemas: [any VersionedSchema.Type] = [V1.self, V2.self]
          static var stages: [MigrationStage] { [first] }
        }
        // file: Stages.swift
        extension Plan {
          static let first = MigrationStage.custom(fromVersion: V1.self, toVersion: V2.self, willMigrate: nil, didMigrate: nil)
        }
        """,
      version("ShopV1", "1, 0, 0") + version("MailV2", "1, 0, 0"),
      two + version("Other1", "1, 0, 0") + plan(["V1", "V2"], stages: [("V1", "V2")]),
      two + plan(["V1", "V2"], stages: [("V1", "V2")]) + """
        enum Rollback: SchemaMigrationPlan {
          static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
          static var stages: [MigrationStage] { [.lightweight(fromVersion: V2.self, toVersion: V1.self)] }
        }
        """,
      "enum Plan: SchemaMigrationPlan { static var stages: [MigrationStage] { [] } }",
    ])
}
