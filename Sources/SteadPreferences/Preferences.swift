import Foundation
import SteadFiles

/// The settings of an app and its user, under the names and with the behaviour of `UserDefaults`.
public final class Preferences: Sendable {
  /// The domains that a value is looked up in, the first that has it counts; and where `set` writes.
  struct SearchList: Sendable {
    var layers: [DomainStore]
    var target: DomainStore
  }

  let searchList: ForkSafeLock<SearchList>
  let observers: PreferenceObservers

  init(searchList: SearchList) {
    let searchList = ForkSafeLock(searchList)
    self.searchList = searchList
    observers = PreferenceObservers { searchList.withLock { list in list.layers } }
  }

  /// Preferences that are kept in memory and are gone with this object: for tests and previews.
  public static func inMemory(_ name: String = "memory") -> Preferences {
    let store = DomainStore(inMemory: name)
    return Preferences(
      searchList: SearchList(layers: [store, .registration], target: store))
  }

  // MARK: What all else is made of

  /// The value that counts for a key, as it is kept; nil when no domain has one.
  public func propertyList(forKey key: String) -> PropertyList? {
    track(key)
    for layer in searchList.withLock({ list in list.layers }) {
      if let value = layer.value(forKey: key) { return value }
    }
    return nil
  }

  /// Sets a value in the app's domain, nil removes it, and says so when that fails.
  ///
  /// `set(_:forKey:)` does the same and gives errors to ``onError``.
  public func setPropertyList(_ value: PropertyList?, forKey key: String) throws {
    try searchList.withLock { list in list.target }.set(value, forKey: key)
  }
}

extension DomainStore {
  /// What `register(defaults:)` has been given, the same for all preferences of the process.
  static let registration = DomainStore(inMemory: "NSRegistrationDomain")
  /// What the command line says, the same for all preferences of the process.
  static let arguments = DomainStore(inMemory: "NSArgumentDomain")
}
