extension SecretService {
  /// A part of the service with its own lock; desktops call it a keyring or a wallet.
  public struct Collection: Hashable, Sendable, CustomStringConvertible {
    enum Lookup: Hashable, Sendable {
      case alias(String)
      case name(String)
    }

    let lookup: Lookup

    /// The user's default collection.
    ///
    /// If the user makes another one the default, as the active tab is in KeePassXC, writes use it at once, and
    /// reads that begin a second later.
    public static let `default` = Collection(lookup: .alias("default"))
    /// A collection in the service's memory that is removed when the user logs out. It has no lock.
    public static let session = Collection(lookup: .alias("session"))

    /// A collection by its alias, or otherwise by the label that the user gave it.
    ///
    /// It is looked up again in each call, which costs a message, and by label one more for each collection.
    /// This package creates only the default collection.
    public static func named(_ name: String) -> Collection { Collection(lookup: .name(name)) }

    /// Its name.
    public var description: String {
      switch lookup {
      case .alias(let name), .name(let name): name
      }
    }
  }
}
