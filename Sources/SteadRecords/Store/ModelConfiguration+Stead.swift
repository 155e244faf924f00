public import Foundation

extension ModelConfiguration {
  /// Whether a store keeps a history of its changes.
  public struct History: Hashable, Sendable {
    private let isKept: Bool

    /// Each transaction is recorded until `deleteHistory` removes it: those of this library, and rows that other
    /// programs change with plain SQL.
    public static let on = History(isKept: true)
    /// Nothing is recorded, and `fetchHistory` finds what was recorded before. Opening the store removes the
    /// triggers that record plain SQL.
    public static let off = History(isKept: false)
  }

  /// Whether the store keeps a history of its changes; ``History/on`` unless set.
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

  /// Creates a configuration of a store in a file of your choice, and says whether it keeps a history.
  public init(
    _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
    history: History
  ) {
    self.init(name, schema: schema, url: url, allowsSave: allowsSave)
    self.history = history
  }
}
