public import Foundation

extension ModelConfiguration {
  /// Whether a store keeps a history of its changes.
  public struct History: Hashable, Sendable {
    private enum Kind { case off, on, withOldValues }

    private let kind: Kind
    var keepsOldRows: Bool { kind == .withOldValues }

    /// Each transaction is recorded until `deleteHistory` removes it: this library's transactions, and rows that other
    /// programs change with plain SQL.
    public static let on = History(kind: .on)
    /// Like ``on``; each row is also kept as it was before each change, so that updates and deletions show their old
    /// values, and `ModelContainer.asOf(_:)` opens the store as it was.
    ///
    /// Costs an extra row for each row written, by whichever program. Old values begin when a store is first opened
    /// with this setting, and again with a migration that changes a table. Opening the store with another setting
    /// removes them.
    public static let withOldValues = History(kind: .withOldValues)
    /// Nothing is recorded, and `fetchHistory` finds what was recorded before. Opening the store removes the triggers
    /// that record plain SQL.
    public static let off = History(kind: .off)
  }

  /// Whether the store keeps a history of its changes; ``History/on`` by default.
  ///
  /// Set it before a container is opened. Programs that share a store should agree.
  ///
  /// ```swift
  /// var configuration = ModelConfiguration("Cache")
  /// configuration.history = .off
  /// ```
  public var history: History {
    get { keptHistory }
    set { keptHistory = newValue }
  }

  /// Creates a configuration of a store in a file of your choice, with or without a history.
  ///
  /// ```swift
  /// ModelConfiguration(url: url, history: .withOldValues)
  /// ```
  public init(
    _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
    history: History
  ) {
    self.init(name, schema: schema, url: url, allowsSave: allowsSave)
    self.history = history
  }
}

extension ModelConfiguration {
  /// What custom stages of a migration plan may drop from this store without reading it: models and properties that are
  /// gone, such as `Book` and `Author.age`; empty by default.
  ///
  /// It adds to the plan's `discardedData`, so that a plan that was published can stay as it is. A copy of the store as
  /// it was is kept in `<store>.backup`, as before each custom stage; stores of more than 1 GiB aren't copied.
  ///
  /// ```swift
  /// var configuration = ModelConfiguration("Library")
  /// configuration.discardedData = ["Author.age"]
  /// ```
  public var discardedData: Set<String> {
    get { keptDiscardedData }
    set { keptDiscardedData = newValue }
  }
}

extension ModelConfiguration {
  /// How much of its history a store keeps; without limits all of it, as SwiftData does.
  ///
  /// Anything beyond one of the limits is removed, oldest first: by a save after each 256 commits, and by
  /// `ModelContainer.trimHistory()`. What a reader of `ModelContainer.setHistoryReader(_:at:)` has not handled stays,
  /// up to ``unreadTransactions``. Tokens from before a removed transaction expire: `fetchHistory` then throws
  /// ``SwiftDataError/historyTokenExpired``.
  ///
  /// ```swift
  /// configuration.historyLimits = .init(age: 30 * 86_400, bytes: 10_000_000)
  /// ```
  public struct HistoryLimits: Hashable, Sendable {
    /// How long transactions are kept, in seconds since their commit; nil for no limit.
    public var age: Double?
    /// How many of the last transactions are kept; nil for no limit.
    public var transactions: Int?
    /// The total size of the lists of changes in bytes, without old values.
    public var bytes: Int?
    /// How many of the last transactions are kept beyond the other limits for readers that have not
    /// handled them; nil for all.
    ///
    /// Alone it removes nothing: what no other limit would remove stays, handled or not.
    public var unreadTransactions: Int?

    /// No limits.
    public static let none = HistoryLimits()

    /// Creates limits; nil is none. What exceeds any of the first three is removed.
    ///
    /// - Parameters:
    ///   - age: How long transactions are kept, in seconds.
    ///   - transactions: How many of the last ones are kept.
    ///   - bytes: The total size of the lists of changes. A removal by size reads the lists that stay.
    ///   - unreadTransactions: How many of the last ones are kept beyond the others for a reader.
    public init(
      age: Double? = nil, transactions: Int? = nil, bytes: Int? = nil,
      unreadTransactions: Int? = nil
    ) {
      self.age = age
      self.transactions = transactions
      self.bytes = bytes
      self.unreadTransactions = unreadTransactions
    }
  }

  /// How much of its history the store keeps; all by default. Set it before a container is opened.
  public var historyLimits: HistoryLimits {
    get { keptLimits }
    set { keptLimits = newValue }
  }
}

// MARK: - Sync

extension ModelConfiguration {
  /// Whether a store is synced with other devices, and under what name.
  public struct Sync: Hashable, Sendable {
    /// The zone's name; nil for none.
    package let zoneName: String?
    /// The rules of the attributes that are merged; of others the later edit stays.
    package let merges: [Merge]

    /// The store stays on this device.
    public static let none = Sync(zoneName: nil, merges: [])
    /// The store mirrors a zone of a server, as long as a `SyncEngine` of SteadSync runs.
    ///
    /// The configuration alone sends nothing.
    ///
    /// Each store has a separate zone. Devices that name the same zone have the same objects.
    ///
    /// - Parameter merges: How edits of some attributes become one value; of others the later edit stays.
    public static func zone(_ name: String, merging merges: Merge...) -> Sync {
      Sync(zoneName: name, merges: merges)
    }
  }

  /// Whether the store is synced; ``Sync/none`` by default. Set it before a container is opened.
  public var sync: Sync {
    get { keptSync }
    set { keptSync = newValue }
  }

  /// Creates a configuration of a synced store by name.
  public init(
    _ name: String? = nil, schema: Schema? = nil, isStoredInMemoryOnly: Bool = false, sync: Sync
  ) {
    self.init(name, schema: schema, isStoredInMemoryOnly: isStoredInMemoryOnly)
    self.sync = sync
  }

  /// Creates a configuration of a synced store in a file of your choice.
  public init(_ name: String? = nil, schema: Schema? = nil, url: URL, sync: Sync) {
    self.init(name, schema: schema, url: url)
    self.sync = sync
  }
}

extension ModelConfiguration.Sync {
  /// How edits of one attribute on several devices become one value, where the later edit should not simply stay.
  ///
  /// ```swift
  /// sync: .zone("0123…", merging: .counter(\Song.plays), .max(\Game.best))
  /// ```
  ///
  /// Name an attribute's rule in the first version that syncs it, and in all later ones: values that were synced
  /// without the rule don't have what it needs.
  public struct Merge: Hashable, Sendable {
    /// What becomes of the values that several devices have given.
    package enum Rule: Sendable { case counter, max, min, union }

    /// The model that the key path begins at.
    package let model: String
    /// The attribute's name.
    package let property: String
    /// What becomes of its values.
    package let rule: Rule

    /// Names the attribute as the model declares it, or by the last component of a path that leads to
    /// no attribute.
    private init(_ model: any PersistentModel.Type, _ path: AnyKeyPath, _ rule: Rule) {
      let metadata = ModelMetadata.of(model)
      self.model = metadata.name
      property = metadata.property(at: path)?.name ?? KeyPathName.lastComponent(path)
      self.rule = rule
    }

    /// What each device adds, or takes away, counts: of 5, of 5 + 2 here and of 5 + 3 there becomes 10.
    public static func counter<Model: PersistentModel>(_ path: KeyPath<Model, Int>) -> Merge {
      Merge(Model.self, path, .counter)
    }

    /// The greatest value that any device has given stays. Strings compare by their UTF-8; nil is less than all values.
    public static func max<Model: PersistentModel, Value>(_ path: KeyPath<Model, Value>) -> Merge {
      Merge(Model.self, path, .max)
    }

    /// The smallest value that any device has given stays; nil counts as none.
    public static func min<Model: PersistentModel, Value>(_ path: KeyPath<Model, Value>) -> Merge {
      Merge(Model.self, path, .min)
    }

    /// All elements that any device has put into an array stay, each once, in an order that is the same everywhere.
    /// None can be removed.
    public static func union<Model: PersistentModel, Element: Codable>(
      _ path: KeyPath<Model, [Element]>
    ) -> Merge {
      Merge(Model.self, path, .union)
    }
  }
}
