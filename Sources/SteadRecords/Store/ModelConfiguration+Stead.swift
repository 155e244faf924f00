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
  /// up to ``unreadTransactions``.
  public struct HistoryLimits: Hashable, Sendable {
    /// How long transactions are kept, in seconds.
    public var age: Double?
    /// How many of the last transactions are kept.
    public var transactions: Int?
    /// The total size of the lists of changes in bytes, without old values.
    public var bytes: Int?
    /// The maximum number of transactions that are kept even for readers that have not handled them; nil for all.
    public var unreadTransactions: Int?

    /// No limits.
    public static let none = HistoryLimits()

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
