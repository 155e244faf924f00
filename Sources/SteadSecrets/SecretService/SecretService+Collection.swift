extension SecretService {
  /// A place within the service, with a lock of its own; desktops call it a keyring or a wallet.
  public struct Collection: Hashable, Sendable, CustomStringConvertible {
    enum Lookup: Hashable, Sendable {
      case alias(String)
      case name(String)
    }

    let lookup: Lookup

    /// The collection that the user has made the default one.
    public static let `default` = Collection(lookup: .alias("default"))
    /// A collection in the service's memory, gone when the user logs out. It has no lock.
    public static let session = Collection(lookup: .alias("session"))

    /// A collection by its alias, or else by the label that the user gave it.
    ///
    /// It is looked for anew in each call, which costs a message, and by label one more for each
    /// collection. This package makes no collections of other names than the default one.
    public static func named(_ name: String) -> Collection { Collection(lookup: .name(name)) }

    /// Its name.
    public var description: String {
      switch lookup {
      case .alias(let name), .name(let name): name
      }
    }
  }
}
