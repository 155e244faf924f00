extension RuleSamples {
  static let p04 = RuleSamples(
    rule: "P04",
    flagged: [
      #"""
      final class Store {
        var items: [Item] = []
        init() {
          let data = UserDefaults.standard.data(forKey: "items") ?? Data()
          items = (try? JSONDecoder().decode([Item].self, from: data)) ?? [] // !
        }
        func save() throws { UserDefaults.standard.set(try JSONEncoder().encode(items), forKey: "items") }
      }
      """#,
      #"""
      final class Store {
        static let key = "history"
        var items: [Item] = []
        func load() {
          guard let data = defaults.data(forKey: Self.key) else { return }
          do {
            items = try JSONDecoder().decode([Item].self, from: data) // !
          } catch {
            print(error)
          }
        }
        func save() {
          if let data = try? JSONEncoder().encode(items) { defaults.set(data, forKey: Self.key) }
        }
      }
      """#,
      #"""
      final class Store {
        let url: URL
        var items: [Item] = []
        init(url: URL) {
          self.url = url
          if let data = try? Data(contentsOf: url), let found = try? JSONDecoder().decode([Item].self, from: data) { // !
            items = found
          }
        }
        func save() throws {
          let data = try JSONEncoder().encode(items)
          try data.write(to: url)
        }
      }
      """#,
      #"""
      var recent: [String] {
        get {
          guard let data = UserDefaults.standard.data(forKey: "recent") else { return [] }
          return (try? JSONDecoder().decode([String].self, from: data)) ?? [] // ?
        }
        set { UserDefaults.standard.set(try? JSONEncoder().encode(newValue), forKey: "recent") }
      }
      """#,
      #"""
      func load() -> State {
        guard let data = defaults.data(forKey: Keys.state),
          let state = try? JSONDecoder().decode(State.self, from: data) // !
        else { return State() }
        return state
      }
      // file: Saving.swift
      func save(_ state: State) throws { defaults.set(try JSONEncoder().encode(state), forKey: "state") }
      // file: Keys.swift
      enum Keys { static let state = "state" }
      """#,
      #"""
      final class Feeds {
        func load() -> [Feed] {
          do {
            let data = try Data(contentsOf: Self.file)
            return try PropertyListDecoder().decode([Feed].self, from: data) // !
          } catch {
            return []
          }
        }
        func save(_ feeds: [Feed]) throws {
          let data = try PropertyListEncoder().encode(feeds)
          try data.write(to: Self.file, options: .atomic)
        }
        static let file = URL.documentsDirectory.appending(path: "feeds.plist")
      }
      """#,
      #"""
      enum Order: String, Codable { case newest, oldest }
      enum Action: Codable { case open(URL), none }
      func order() -> Order {
        guard let data = defaults.data(forKey: "order"), let order = try? JSONDecoder().decode(Order.self, from: data) // ?
        else { return .newest }
        return order
      }
      func orders() -> [Order] {
        guard let data = defaults.data(forKey: "orders"), let all = try? JSONDecoder().decode([Order].self, from: data) // !
        else { return [] }
        return all
      }
      func action() -> Action {
        guard let data = defaults.data(forKey: "action"), let action = try? JSONDecoder().decode(Action.self, from: data) // !
        else { return .none }
        return action
      }
      func keep(_ order: Order) throws { defaults.set(try JSONEncoder().encode(order), forKey: "order") }
      func keep(_ orders: [Order]) throws { defaults.set(try JSONEncoder().encode(orders), forKey: "orders") }
      func keep(_ action: Action) throws { defaults.set(try JSONEncoder().encode(action), forKey: "action") }
      """#,
      #"""
      func trusted() -> [String: Data] {
        guard let data = defaults.data(forKey: "trusted") else { return [:] }
        return (try? JSONDecoder().decode([String: Data].self, from: data)) ?? [:] // ?
      }
      func keep(_ trusted: [String: Data]) throws { defaults.set(try JSONEncoder().encode(trusted), forKey: "trusted") }
      """#,
      #"""
      func load() -> [Item] {
        guard let data = defaults.data(forKey: "items") else { return [] }
        if let items = try? JSONDecoder().decode([Item].self, from: data) { return items }
        return (try? [JSONDecoder().decode(Item.self, from: data)]) ?? [] // !
      }
      func loadOlder() -> [Item] {
        guard let data = defaults.data(forKey: "items") else { return [] }
        if let items = try? JSONDecoder().decode([Item].self, from: data) { return items }
        return ((try? JSONDecoder().decode([String].self, from: data)) ?? []).map(Item.init) // !
      }
      func loadBranches() -> [Item] {
        guard let data = defaults.data(forKey: "items") else { return [] }
        if let items = try? JSONDecoder().decode([Item].self, from: data) { // !
          check(try? JSONDecoder().decode(Header.self, from: data)) // !
          return items
        }
        return []
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "timer") else { return }
        do { timer = try JSONDecoder().decode(Timing.self, from: data) } catch { resetTimer() } // !
      }
      func resetTimer() { timer = nil }
      func save() throws { defaults.set(try JSONEncoder().encode(timer), forKey: "timer") }
      """#,
      #"""
      final class Projects {
        let key: String
        init(key: String = "projects") {
          self.key = key
          let data = UserDefaults.standard.data(forKey: key) ?? Data()
          items = (try? JSONDecoder().decode([Project].self, from: data)) ?? [] // !
        }
        func save() throws { UserDefaults.standard.set(try JSONEncoder().encode(items), forKey: key) }
      }
      """#,
      #"""
      final class Chats {
        let url: URL
        func loadIndex() -> [Chat] { (try? JSONDecoder().decode([Chat].self, from: Data(contentsOf: url))) ?? [] } // !
        func save(_ chats: [Chat]) throws { try JSONEncoder().encode(chats).write(to: url, options: .atomic) }
      }
      """#,
      #"""
      extension UserDefaults {
        var charts: [Chart] {
          set { set(try? JSONEncoder().encode(newValue), forKey: "charts") }
          get {
            guard let data = data(forKey: "charts") else { return [] }
            return (try? JSONDecoder().decode([Chart].self, from: data)) ?? [] // !
          }
        }
      }
      """#,
      #"""
      struct Shortcut: Codable { var key: Int; var modifiers: Int; var side: Side? }
      enum Side: String, Codable { case left, right }
      struct Server: Codable { var address: String; var certificates: [Data] }
      struct Profile: Codable { var name, city, street, country: String }
      func shortcut() -> Shortcut? {
        let data = defaults.data(forKey: "shortcut") ?? Data()
        return try? JSONDecoder().decode(Shortcut.self, from: data) // ?
      }
      func server() -> Server? {
        let data = defaults.data(forKey: "server") ?? Data()
        return try? JSONDecoder().decode(Server.self, from: data) // !
      }
      func profile() -> Profile? {
        let data = defaults.data(forKey: "profile") ?? Data()
        return try? JSONDecoder().decode(Profile.self, from: data) // !
      }
      func keep(_ shortcut: Shortcut) throws { defaults.set(try JSONEncoder().encode(shortcut), forKey: "shortcut") }
      func keep(_ server: Server) throws { defaults.set(try JSONEncoder().encode(server), forKey: "server") }
      func keep(_ profile: Profile) throws { defaults.set(try JSONEncoder().encode(profile), forKey: "profile") }
      """#,
      #"""
      final class Downloads {
        func load() -> [Download] {
          let data = UserDefaults.standard.data(forKey: "downloadProgress") ?? Data()
          return (try? JSONDecoder().decode([Download].self, from: data)) ?? [] // ?
        }
        func save() throws { UserDefaults.standard.set(try JSONEncoder().encode(all), forKey: "downloadProgress") }
      }
      """#,
      #"""
      final class Servers {
        func load() -> [Server] {
          let data = UserDefaults.standard.data(forKey: "servers") ?? Data()
          return (try? JSONDecoder().decode([Server].self, from: data)) ?? [] // ?
        }
        func save() throws { UserDefaults.standard.set(try JSONEncoder().encode(all), forKey: "servers") }
      }
      enum Editor {
        struct State: Codable { var names: [String] }
        static func load() -> State? {
          try? JSONDecoder().decode(State.self, from: defaults.data(forKey: "editor") ?? Data()) // !
        }
        static func save(_ state: State) throws { defaults.set(try JSONEncoder().encode(state), forKey: "editor") }
      }
      // file: Client.swift
      enum Api {
        struct State: Codable { var names: [String] }
        static func state(_ url: URL) async throws -> State {
          let (data, _) = try await URLSession.shared.data(from: url)
          return try JSONDecoder().decode(State.self, from: data)
        }
      }
      func fetch(_ url: URL) async throws -> [Server] {
        let (data, _) = try await URLSession.shared.data(from: url)
        return try JSONDecoder().decode([Server].self, from: data)
      }
      """#,
      #"""
      func config() -> Config? {
        let data = defaults.data(forKey: "config") ?? Data()
        return try? JSONDecoder().decode(Config.self, from: data) // ?
      }
      final class StatusBarController {
        func load() { all = (try? JSONDecoder().decode([Account].self, from: defaults.data(forKey: "accounts")!)) ?? [] } // !
        func save() throws { defaults.set(try JSONEncoder().encode(all), forKey: "accounts") }
      }
      struct Drawing: Codable { var title: String; var strokes: Data }
      func drawing() -> Drawing? {
        try? JSONDecoder().decode(Drawing.self, from: defaults.data(forKey: "drawing") ?? Data()) // !
      }
      func keep(_ drawing: Drawing) throws { defaults.set(try JSONEncoder().encode(drawing), forKey: "drawing") }
      func document() -> Document? {
        try? JSONDecoder().decode(Document.self, from: defaults.data(forKey: "document") ?? Data()) // !
      }
      func store() async throws {
        let document = try await editor.currentDocument()
        defaults.set(try JSONEncoder().encode(document), forKey: "document")
      }
      func refresh() async throws {
        let config = try await fetchConfig()
        defaults.set(try JSONEncoder().encode(config), forKey: "config")
      }
      func plan() -> Plan? {
        let data = defaults.data(forKey: "plan") ?? Data()
        return try? JSONDecoder().decode(Plan.self, from: data) // !
      }
      func refreshPlan() async throws {
        let plan = try await fetchPlan()
        defaults.set(try JSONEncoder().encode(plan), forKey: "plan")
      }
      func edit(_ plan: Plan) throws { defaults.set(try JSONEncoder().encode(plan), forKey: "plan") }
      """#,
      #"""
      struct Settings: Codable {
        var sizes: [Int], names: [String]
        init(from decoder: any Decoder) throws {
          let fields = try decoder.container(keyedBy: CodingKeys.self)
          sizes = (try? fields.decode([Int].self, forKey: .sizes)) ?? []
          names = (try? fields.decodeIfPresent([String].self, forKey: .names)) ?? []
        }
      }
      struct Strict: Codable {
        var sizes: [Int], names: [String]
        init(from decoder: any Decoder) throws {
          let fields = try decoder.container(keyedBy: CodingKeys.self)
          sizes = (try? fields.decode([Int].self, forKey: .sizes)) ?? []
          names = try fields.decode([String].self, forKey: .names)
        }
      }
      func settings() -> Settings? {
        try? JSONDecoder().decode(Settings.self, from: defaults.data(forKey: "settings") ?? Data()) // ?
      }
      func strict() -> Strict? {
        try? JSONDecoder().decode(Strict.self, from: defaults.data(forKey: "strict") ?? Data()) // !
      }
      func keep(_ settings: Settings) throws { defaults.set(try JSONEncoder().encode(settings), forKey: "settings") }
      func keep(_ strict: Strict) throws { defaults.set(try JSONEncoder().encode(strict), forKey: "strict") }
      """#,
      #"""
      func loadPruned() throws -> [Item] {
        guard let data = defaults.data(forKey: "items"),
          var items = try? JSONDecoder().decode([Item].self, from: data) // !
        else { return [] }
        items.removeAll(where: \.isOld)
        defaults.set(try JSONEncoder().encode(items), forKey: "items")
        return items
      }
      func add(_ item: Item) throws {
        guard let data = defaults.data(forKey: "items"),
          var items = try? JSONDecoder().decode([Item].self, from: data)
        else { return }
        items.append(item)
        defaults.set(try JSONEncoder().encode(items), forKey: "items")
      }
      func load() -> [Item] {
        guard let data = defaults.data(forKey: "items"),
          let items = try? JSONDecoder().decode([Item].self, from: data) // !
        else { return [] }
        return items
      }
      """#,
      #"""
      func user() -> User {
        guard let data = defaults.data(forKey: "user"),
          let user = try? JSONDecoder().decode(User.self, from: data) // !
        else {
          let user = User()
          defaults.set(try? JSONEncoder().encode(user), forKey: "user")
          return user
        }
        return user
      }
      """#,
      #"""
      final class Drafts {
        let url: URL
        func load() -> [Draft] { (try? JSONDecoder().decode([Draft].self, from: Data(contentsOf: url))) ?? [] } // !
        func save(_ drafts: [Draft]) throws {
          let data = try JSONEncoder().encode(drafts)
          FileManager.default.createFile(atPath: url.path, contents: data)
        }
      }
      final class Outbox {
        let path: String
        func load() -> [Mail] {
          guard let data = FileManager.default.contents(atPath: path) else { return [] }
          return (try? JSONDecoder().decode([Mail].self, from: data)) ?? [] // !
        }
        func save(_ mails: [Mail]) throws {
          FileManager.default.createFile(atPath: self.path, contents: try JSONEncoder().encode(mails))
        }
      }
      """#,
    ],
    silent: [
      #"""
      final class Exports {
        let path: String
        func load() -> [Mail] {
          guard let data = FileManager.default.contents(atPath: path) else { return [] }
          return (try? JSONDecoder().decode([Mail].self, from: data)) ?? []
        }
        func save(_ mails: [Mail]) throws {
          let data = try JSONEncoder().encode(mails)
          FileManager.default.createFile(atPath: path, contents: nil)
          upload(data)
        }
      }
      """#,
      #"""
      func replace(_ items: [Item]) {
        defaults.set(try? JSONEncoder().encode(items), forKey: "items")
        let data = defaults.data(forKey: "items") ?? Data()
        shown = (try? JSONDecoder().decode([Item].self, from: data)) ?? []
      }
      """#,
      #"""
      final class ObservabilityStore {
        func load() -> [Event] {
          let data = UserDefaults.standard.data(forKey: "events") ?? Data()
          return (try? JSONDecoder().decode([Event].self, from: data)) ?? []
        }
        func save() { UserDefaults.standard.set(try? JSONEncoder().encode(events), forKey: "events") }
      }
      """#,
      #"""
      struct Provider: TimelineProvider {}
      func timeline() -> Load? {
        guard let data = defaults.data(forKey: "load") else { return nil }
        return try? JSONDecoder().decode(Load.self, from: data)
      }
      // file: App.swift
      func publish(_ load: Load) { defaults.set(try? JSONEncoder().encode(load), forKey: "load") }
      """#,
      #"""
      func load() -> [Request] {
        guard let data = defaults.data(forKey: "queue") else { return [] }
        do {
          return try JSONDecoder().decode([Request].self, from: data)
        } catch {
          log("The queue is dropped: \(error)")
          defaults.removeObject(forKey: "queue")
          return []
        }
      }
      func save(_ queue: [Request]) { defaults.set(try? JSONEncoder().encode(queue), forKey: "queue") }
      """#,
      #"""
      final class Odds: Codable {
        init?(cachedFor id: Int) {
          let url = URL(fileURLWithPath: Place.path + "/\(id).json")
          guard let data = try? Data(contentsOf: url), let odds = try? JSONDecoder().decode(Odds.self, from: data) else {
            return nil
          }
          rows = odds.rows
        }
        func save(id: Int) throws {
          let url = URL(fileURLWithPath: Place.path + "/\(id).json")
          let data = try JSONEncoder().encode(self)
          try data.write(to: url, options: .atomic)
        }
      }
      """#,
      #"""
      func load() throws -> [Item] {
        try JSONDecoder().decode([Item].self, from: defaults.data(forKey: "items") ?? Data())
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() -> [Item] {
        guard let data = defaults.data(forKey: "items") else { return [] }
        return (try? JSONDecoder().decode([Item].self, from: data)) ?? []
      }
      """#,
      #"""
      func load() -> [Item] {
        guard let data = defaults.data(forKey: "items") else { return [] }
        if let items = try? JSONDecoder().decode([Item].self, from: data) { return items }
        defaults.set(data, forKey: "items.corrupt")
        backup(data)
        return []
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func load() throws {
        do {
          items = try JSONDecoder().decode([Item].self, from: defaults.data(forKey: "items")!)
        } catch {
          throw LoadFailure(error)
        }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      final class ImageCache {
        func load() { entries = (try? JSONDecoder().decode([Entry].self, from: defaults.data(forKey: "entries")!)) ?? [] }
        func save() throws { defaults.set(try JSONEncoder().encode(entries), forKey: "entries") }
      }
      """#,
      #"""
      func load() { items = (try? JSONDecoder().decode([Item].self, from: defaults.data(forKey: "items")!)) ?? [] }
      func save() throws { defaults.set(try JSONEncoder().encode(other), forKey: "other") }
      """#,
      #"""
      func load() {
        do {
          items = try JSONDecoder().decode([Item].self, from: defaults.data(forKey: "items")!)
        } catch {
          loadError = error
        }
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func parse(_ response: Data) -> [Item] { (try? JSONDecoder().decode([Item].self, from: response)) ?? [] }
      """#,
      #"""
      func state() -> CKSyncEngine.State.Serialization? {
        try? PropertyListDecoder().decode(CKSyncEngine.State.Serialization.self, from: defaults.data(forKey: "state")!)
      }
      func save(_ state: CKSyncEngine.State.Serialization) throws {
        defaults.set(try PropertyListEncoder().encode(state), forKey: "state")
      }
      """#,
      #"""
      final class PlayHandler: NSObject, INPlayMediaIntentHandling {}
      func load() { items = (try? JSONDecoder().decode([Item].self, from: defaults.data(forKey: "items")!)) ?? [] }
      // file: Other.swift
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      struct Backups: View {
        func export(_ chats: [Chat]) throws {
          let data = try JSONEncoder().encode(chats)
          try data.write(to: url)
        }
        func read() {
          let panel = NSOpenPanel()
          guard panel.runModal() == .OK, let url = panel.url else { return }
          do { chats = try JSONDecoder().decode([Chat].self, from: try Data(contentsOf: url)) } catch { alert(error) }
        }
        func importChats(_ url: URL) {
          do { chats = try JSONDecoder().decode([Chat].self, from: try Data(contentsOf: url)) } catch { alert(error) }
        }
      }
      """#,
      #"""
      func load() throws {
        guard let data = defaults.data(forKey: "items"), let items = try? JSONDecoder().decode([Item].self, from: data)
        else { throw LoadError.unreadable }
        self.items = items
      }
      func scan() {
        guard let data = defaults.data(forKey: "items"), let items = try? JSONDecoder().decode([Item].self, from: data)
        else { return defaults.removeObject(forKey: "items") }
        self.items = items
      }
      func save() throws { defaults.set(try JSONEncoder().encode(items), forKey: "items") }
      """#,
      #"""
      func append(_ item: Item) throws {
        let data = try Data(contentsOf: file)
        let items: [Item]
        if let old = try? JSONDecoder().decode(Item.self, from: data) {
          items = [old, item]
        } else if let old = try? JSONDecoder().decode([Item].self, from: data) {
          items = old + [item]
        } else {
          throw Unreadable()
        }
        let bytes = try JSONEncoder().encode(items)
        try bytes.write(to: file)
      }
      """#,
      #"""
      func load() throws -> [Item] {
        let data = try Data(contentsOf: file)
        if let items = try? JSONDecoder().decode([Item].self, from: data) { return items }
        return try [JSONDecoder().decode(Item.self, from: data)]
      }
      func save(_ items: [Item]) throws {
        let data = try JSONEncoder().encode(items)
        try data.write(to: file)
      }
      """#,
      #"""
      func load() {
        guard let data = defaults.data(forKey: "timer") else { return }
        do { timer = try JSONDecoder().decode(Timing.self, from: data) } catch { clearTimer() }
      }
      func clearTimer() { defaults.removeObject(forKey: "timer") }
      func save() throws { defaults.set(try JSONEncoder().encode(timer), forKey: "timer") }
      """#,
      #"""
      final class Files {
        let url: URL
        func load() -> [Entry] { (try? JSONDecoder().decode([Entry].self, from: Data(contentsOf: url))) ?? [] }
        func save(_ entries: [Entry]) throws { try JSONEncoder().encode(entries).write(to: url, options: .atomic) }
        func rebuild() throws { try save(scan()) }
      }
      """#,
      #"""
      final class ArtifactSearchIndex {
        let url: URL
        func load() -> [Entry] { (try? JSONDecoder().decode([Entry].self, from: Data(contentsOf: url))) ?? [] }
        func save(_ entries: [Entry]) throws { try JSONEncoder().encode(entries).write(to: url, options: .atomic) }
      }
      """#,
      #"""
      struct DebugStorage {
        let url: URL
        func load() -> [Entry] { (try? JSONDecoder().decode([Entry].self, from: Data(contentsOf: url))) ?? [] }
        func save(_ entries: [Entry]) throws { try JSONEncoder().encode(entries).write(to: url, options: .atomic) }
      }
      """#,
    ]
  ).adding(handledErrors)
}
