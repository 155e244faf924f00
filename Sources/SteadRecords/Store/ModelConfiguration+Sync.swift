public import Foundation

extension ModelConfiguration {
  /// Whether a store is synced with other devices, and under what name.
  public struct Sync: Hashable, Sendable {
    /// The zone's name; nil for none.
    package let zoneName: String?
    package let merges: [Merge]

    /// The store stays on this device.
    public static let none = Sync(zoneName: nil, merges: [])
    /// The store mirrors a zone of a server, as long as a `SyncEngine` of SteadSync runs.
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
