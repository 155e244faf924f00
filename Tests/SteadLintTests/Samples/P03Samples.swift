extension RuleSamples {
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
