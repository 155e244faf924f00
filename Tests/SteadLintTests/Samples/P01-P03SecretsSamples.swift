extension RuleSamples {
  static let p01 = RuleSamples(
    rule: "P01",
    flagged: [
      #"UserDefaults.standard.set(token, forKey: "accessToken") // !"#,
      #"UserDefaults(suiteName: "group.a")?.set(value, forKey: "user_password") // !"#,
      #"struct V { @AppStorage("apiKey") var apiKey = "" } // !"#,
      #"NSUbiquitousKeyValueStore.default.set(phrase, forKey: "seedPhrase") // !"#,
      #"""
      final class Settings {
        enum Keys { static let login = "login.refresh-token" }
        private let store: UserDefaults
        init(store: UserDefaults) { self.store = store }
        var login: String = "" {
          didSet { store.set(login, forKey: Keys.login) } // !
        }
        func signIn(_ reply: Reply) { login = reply.token }
      }
      """#,
      #"""
      func keep(_ text: String, in defaults: UserDefaults) {
        defaults.setValue(text, forKey: StorageKey.secret.rawValue) // !
      }
      // file: Keys.swift
      enum StorageKey: String { case secret = "client-secret", theme }
      """#,
      #"""
      extension UserDefaults { static let shared = UserDefaults(suiteName: "a")! }
      func keep(_ text: String) { UserDefaults.shared.set(text, forKey: "llmPolishingAPIKey") } // !
      """#,
      #"""
      struct V { @UserDefault(key: "sessionToken", defaultValue: "") var session: String } // !
      """#,
      #"""
      struct V: View {
        @AppStorage("gptToken") private var token = "" // !
        @AppStorage("oldToken") private var oldToken = "" // ?
        var body: some View { TextField("Token", text: $token) }
      }
      """#,
      #"""
      final class Settings { @AppStorage("gptToken") var gptToken = "" } // !
      """#,
      #"""
      struct V: View {
        @AppStorage("token") private var token = "" // ?
        func keep(_ reply: Reply) { UserDefaults.standard.set(reply.token, forKey: "token") } // !
      }
      """#,
      #"""
      struct V: View {
        @AppStorage("token") private var token = "" // !
        func send() { client.send(self.token) }
      }
      """#,
      #"""
      extension UserDefaults {
        enum Key: String { case sharePassword, volume }
        @objc dynamic var sharePassword: String? {
          get { string(forKey: Key.sharePassword.rawValue) }
          set { set(newValue, forKey: Key.sharePassword.rawValue) } // !
        }
        func keep(_ text: String) { self.set(text, forKey: "apiKey") } // !
      }
      // file: Form.swift
      struct Form: View { var body: some View { TextField("Password", text: $defaults.sharePassword) } }
      """#,
      #"""
      enum Management {
        static var gitPassword: String? {
          get { UserDefaults.standard.string(forKey: "gitPassword") }
          set { UserDefaults.standard.set(newValue, forKey: "gitPassword") } // ?
        }
        static var oldPassword = "" {
          didSet { UserDefaults.standard.set(oldPassword, forKey: "oldPassword") } // !
        }
        static var webPassword: String? {
          get { UserDefaults.standard.string(forKey: "webPassword") }
          set { UserDefaults.standard.set(newValue, forKey: "webPassword") } // !
        }
        public static var sharePassword: String? {
          get { UserDefaults.standard.string(forKey: "sharePassword") }
          set { UserDefaults.standard.set(newValue, forKey: "sharePassword") } // !
        }
        static var keyPath: String? {
          get { UserDefaults.standard.string(forKey: "keyPassword") }
          set { UserDefaults.standard.set(newValue, forKey: "keyPassword") } // !
        }
      }
      // file: Changes.swift
      func change(_ reply: Reply) {
        Parts.tokens.append(reply.token)
        Parts.keys["a"] = reply.key
        (Parts.login, Parts.other) = (reply.login, 1)
      }
      enum Parts {
        static var tokens: [String] {
          get { [] }
          set { UserDefaults.standard.set(newValue, forKey: "accessTokens") } // !
        }
        static var keys: [String: String] {
          get { [:] }
          set { UserDefaults.standard.set(newValue, forKey: "apiKey") } // !
        }
        static var login: String {
          get { "" }
          set { UserDefaults.standard.set(newValue, forKey: "password") } // !
        }
      }
      public extension UserDefaults {
        var exportPassword: String {
          get { "" }
          set { set(newValue, forKey: "exportPassword") } // !
        }
      }
      // file: Form.swift
      struct SignIn: View {
        @State var password = ""
        var body: some View {
          Button("Sign in") { UserDefaults.standard.set(password, forKey: "password") } // !
        }
        lazy var client: Client = { UserDefaults.standard.set(secret, forKey: "clientSecret"); return Client() }() // !
      }
      func send() { connect(Management.gitPassword, Management.gitPassword == "" ? nil : "") }
      func sign(in reply: Reply) { Management.webPassword = reply.password }
      let path = \Management.keyPath
      """#,
      #"UserDefaults.standard.set(text, forKey: "wifiPassword2") // !"#,
      #"""
      struct V { @UserDefaultsBacked(key: "password", defaultValue: "") var password: String } // !
      """#,
      #"""
      func keep(mnemonic: String) {
        let key = Environment.name(of: "mnemonic")
        UserDefaults.standard.set(mnemonic, forKey: key) // !
      }
      """#,
      #"""
      UserDefaults.standard.set(value, forKey: "ACCESS_TOKEN_V1") // !
      """#,
      #"""
      struct A { @AppStorage("accessToken.v2") var value = "" } // !
      """#,
    ],
    silent: [
      #"UserDefaults.standard.set(UUID().uuidString, forKey: "widgetAuthenticityToken")"#,
      #"UserDefaults.standard.set(Date(), forKey: "biweeklyPasswordVerifyDate")"#,
      #"UserDefaults.standard.set(count, forKey: "tokenCount"); UserDefaults.standard.set(4, forKey: "maxTokens")"#,
      #"struct V { @AppStorage("hasPassword") var hasPassword = false; @AppStorage("lastTokenUpdate") var last = 0.0 }"#,
      #"UserDefaults.standard.removeObject(forKey: "password"); UserDefaults.standard.set(nil, forKey: "password")"#,
      #"let old = UserDefaults.standard.string(forKey: "password")"#,
      #"keychain.set(password, forKey: "password")"#,
      #"UserDefaults.standard.set(deviceToken, forKey: "devicePushToken")"#,
      #"UserDefaults.standard.set(data, forKey: "CKServerChangeToken")"#,
      #"""
      final class Vault {
        let defaults: KeychainStore
        init(defaults: KeychainStore) { self.defaults = defaults }
        func keep(_ text: String) { defaults.set(text, forKey: "password") }
      }
      """#,
      #"UserDefaults.standard.set(true, forKey: "secret")"#,
      #"UserDefaults.standard.set(encrypted(text), forKey: "apiKey")"#,
      // StoreKit's `appAccountToken` is an identifier that the app makes itself.
      #"UserDefaults.standard.set(user.appAccountToken, forKey: "userAppAccountToken")"#,
      #"""
      extension UserDefaults {
        var secret: Bool { get { bool(forKey: "secret") } set { set(newValue, forKey: "secret") } }
      }
      extension Vault { func keep(_ text: String) { set(text, forKey: "password") } }
      """#,
      #"struct V { @SecureUserDefault(key: "password", defaultValue: "") var password: String }"#,
      #"""
      func keep(_ token: String, _ passwordHash: String, for key: String) {
        UserDefaults.standard.set(token, forKey: key)
        UserDefaults.standard.set(passwordHash, forKey: key)
        UserDefaults.standard.set(password, forKey: "selectedCharacters")
      }
      """#,
      #"""
      UserDefaults.standard.set(value, forKey: "tokenCountV2")
      """#,
    ])

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

  static let p03 = RuleSamples(
    rule: "P03",
    flagged: [
      #"""
      struct Session: Codable { var user: String; var accessToken: String }
      func save(_ session: Session) throws {
        UserDefaults.standard.set(try JSONEncoder().encode(session), forKey: "session") // !
      }
      """#,
      #"""
      func save(_ accounts: [Account], to url: URL) throws {
        let data = try JSONEncoder().encode(accounts) // !
        try data.write(to: url, options: .atomic)
      }
      // file: Account.swift
      struct Account { var name: String; var password: String? }
      // file: Account+Codable.swift
      extension Account: Codable {}
      """#,
      #"""
      struct Server: Codable { var host: String; var login: Login }
      struct Login: Codable { var user: String; let apiKey: String }
      final class Store {
        var servers: [Server] = []
        func save() {
          if let data = try? JSONEncoder().encode(servers) { // !
            UserDefaults.standard.set(data, forKey: "servers")
          }
        }
      }
      """#,
      #"""
      struct Wallet: Encodable { var mnemonic: String }
      func sync(_ wallet: Wallet) throws {
        NSUbiquitousKeyValueStore.default.set(try JSONEncoder().encode(wallet), forKey: "wallet") // !
      }
      """#,
      #"""
      struct Config: Codable {
        var clientSecret: Data
        func save(to url: URL) throws {
          let encoder = PropertyListEncoder()
          try encoder.encode(self).write(to: url) // !
        }
      }
      """#,
      #"""
      final class Store {
        var settings = Settings()
        private let encoder = JSONEncoder()
        func save() throws {
          let data = try encoder.encode(settings) // !
          defaults.set(data, forKey: "settings")
        }
      }
      // file: Settings.swift
      struct Settings: Codable { var theme = ""; var openAIAPIKey = "" }
      """#,
      #"""
      struct Account: Codable { var user = ""; var password = "" }
      struct Settings: Codable { var accounts: [String: Account] = [:] }
      func save(_ settings: Settings) throws {
        let data = try JSONEncoder().encode(settings) // !
        UserDefaults.standard.set(data, forKey: "settings")
      }
      """#,
    ],
    silent: [
      #"""
      struct Session: Codable { var user: String; var tokenCount: Int }
      func save(_ session: Session) throws {
        UserDefaults.standard.set(try JSONEncoder().encode(session), forKey: "session")
      }
      """#,
      #"""
      struct Session: Codable {
        var user: String
        var password: String = ""
        enum CodingKeys: String, CodingKey { case user }
      }
      func save(_ session: Session) throws {
        UserDefaults.standard.set(try JSONEncoder().encode(session), forKey: "session")
      }
      """#,
      #"""
      struct Login: Codable { var password: String }
      func send(_ login: Login) throws { request.httpBody = try JSONEncoder().encode(login) }
      """#,
      #"""
      struct Login: Codable { var password: String }
      func keep(_ login: Login) throws {
        let data = try JSONEncoder().encode(login)
        SecItemAdd([kSecValueData: data] as CFDictionary, nil)
      }
      """#,
      #"""
      struct Login { var password: String }
      struct Item: Codable { var name: String }
      func save(_ items: [Item]) throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      struct Login: Codable { var password: String; static let secret = "" }
      func load() throws -> Login { try JSONDecoder().decode(Login.self, from: defaults.data(forKey: "a")!) }
      """#,
      #"""
      struct Item: Codable { var name: String; var hasPassword: Bool; var secret: String { "" } }
      func save(_ item: Item, url: URL) throws { try JSONEncoder().encode(item).write(to: url) }
      """#,
      #"""
      struct Score: Codable { var points = 0 }
      struct Settings: Codable { var scores: [String: Score] = [:]; var passwords: [String: Int] = [:] }
      func save(_ settings: Settings) throws {
        UserDefaults.standard.set(try JSONEncoder().encode(settings), forKey: "settings")
      }
      """#,
    ])
}
