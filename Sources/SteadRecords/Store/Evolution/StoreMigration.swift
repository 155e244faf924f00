public import Foundation

/// What opening a store has changed in it.
public struct StoreMigration: Sendable {
  /// The store's file.
  public let url: URL
  /// What has changed in the models.
  public let difference: SchemaDifference
  /// The store as it was, where data was dropped or converted: a store of its own, which the next such migration
  /// replaces. nil where nothing was lost, where the store is in memory, or larger than 1 GiB.
  public let backup: URL?
}
