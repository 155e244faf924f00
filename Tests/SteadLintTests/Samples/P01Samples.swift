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
}
