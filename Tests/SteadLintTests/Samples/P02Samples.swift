extension RuleSamples {
  static let p02 = RuleSamples(
    rule: "P02",
    flagged: [
      #"""
      @Model final class Account {
        var password = "" // !
      }
      """#,
      #"""
      @Model final class Server {
        var host: String = ""
        var apiToken: String? // !
      }
      """#,
      #"""
      @Model class Wallet {
        @Attribute(.externalStorage) var privateKey: Data? // !
        init() {}
      }
      """#,
      #"@Model class Feed { var refreshToken: String // !"#
        + "\n init(t: String) { refreshToken = t } }",
      #"""
      enum Schema2: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [User.self] }
        @Model class User {
          var passcode: String = "" // !
        }
      }
      """#,
      #"""
      @Model class Mail {
        var smtpPassword = "", imap_password = "" // !
      }
      """#,
      #"""
      @Model class Card { var cvv: Optional<String> } // !
      """#,
    ],
    silent: [
      "@Model class A { var passwordReference = UUID(); var passwordHash = \"\" }",
      "@Model class A { @Transient var password = \"\" }",
      "@Model class A { var password: String { vault.password } }",
      "@Model class A { @Attribute(.transformable(by: Sealing.self)) var secret: Data? }",
      "@Model class A { var hasPassword = false; var tokenCount = 0; var token: UUID? }",
      "class A { var password = \"\" }",
      "@Model class A { var encryptedPassword = Data(); static let secret = \"\" }",
      #"""
      enum V1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [User.self] }
        @Model class User { var password = "" }
      }
      enum V2: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [User.self] }
        @Model class User { var passwordID = UUID() }
      }
      enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: V1.self, toVersion: V2.self)] }
      }
      """#,
    ])
}
