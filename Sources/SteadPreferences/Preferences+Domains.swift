import Foundation

extension Preferences {
  /// The domain that all of a user's programs share: `NSGlobalDomain`.
  public static let globalDomain = DomainName.global
  /// The volatile domain of the command line's arguments: `NSArgumentDomain`.
  public static let argumentDomain = DomainName.arguments
  /// The volatile domain of the values passed to ``register(defaults:)``: `NSRegistrationDomain`.
  public static let registrationDomain = DomainName.registration

  /// Posted when a value was refused because it would exceed the quota; the object is the
  /// preferences.
  ///
  /// It is posted on the thread of the call that was refused.
  public static let sizeLimitExceededNotification = Notification.Name(
    "NSUserDefaultsSizeLimitExceededNotification")

  // MARK: - Defaults

  /// Registers values for keys that no domain has, in addition to those registered before.
  ///
  /// ```swift
  /// preferences.register(defaults: ["theme": "system", "pageSize": 20])
  /// ```
  ///
  /// They apply to all preferences of the process and are never written to a file, so an app
  /// registers them each time it starts. If a value isn't a property list, all of them are refused,
  /// and `onError` is called with its key.
  public func register(defaults: [String: Any]) {
    reporting {
      let fields: PropertyList.Fields
      do {
        fields = try PropertyList.Fields(validating: defaults)
      } catch var error as PropertyListError {
        error.message = "None of the defaults was registered. \(error.message)"
        throw error
      }
      try environment.shared.registration.apply(
        fields.map { DomainEdit(key: $0.key, value: $0.value) })
    }
  }

  // MARK: - Suites

  /// Appends a suite's domain to the search list of this object.
  ///
  /// Names that ``init(suiteName:)`` refuses are refused here, too, and `onError` is called.
  public func addSuite(named name: String) {
    reporting {
      try Self.checkSuite(name, environment)
      search.renew(report: report) { suites in
        if !suites.contains(name) { suites.append(name) }
      }
    }
  }

  /// Removes a suite that ``addSuite(named:)`` has added from the search list; others are ignored.
  public func removeSuite(named name: String) {
    search.renew(report: report) { suites in suites.removeAll { $0 == name } }
  }

  /// All keys of all domains with their effective values.
  ///
  /// Costs time for every key of every domain: to read a few, request those.
  public func dictionaryRepresentation() -> [String: Any] {
    var all: [String: PropertyList] = [:]
    // From the last domain to the first, so that earlier ones overwrite later ones.
    for layer in layers.reversed() {
      for field in layer.contents() { all[field.key] = field.value }
    }
    return all.mapValues(\.anyValue)
  }

  // MARK: - Volatile domains

  /// The names of the domains without files: arguments, registered defaults, and those of
  /// ``setVolatileDomain(_:forName:)``.
  public var volatileDomainNames: [String] { environment.shared.volatileNames }

  /// The contents of a volatile domain; empty when no domain has that name.
  public func volatileDomain(forName name: String) -> [String: Any] {
    guard let store = environment.shared.volatile(name) else { return [:] }
    return PropertyList.Fields(store.contents()).anyValue
  }

  /// Replaces the contents of a volatile domain, or creates the domain.
  ///
  /// Of these domains only ``argumentDomain`` and ``registrationDomain`` take part in look-ups.
  /// Posts ``didChangeNotification``.
  public func setVolatileDomain(_ contents: [String: Any], forName name: String) {
    reporting {
      let fields = try PropertyList.Fields(validating: contents)
      try environment.shared.makeVolatile(name).replaceContents(with: fields)
      // Arguments take part in look-ups only if there are any.
      if name == Self.argumentDomain { environment.shared.renewLists(report: report) }
      postChange()
    }
  }

  /// Removes a volatile domain; ``argumentDomain`` and ``registrationDomain`` become empty.
  ///
  /// Posts ``didChangeNotification``.
  public func removeVolatileDomain(forName name: String) {
    environment.shared.removeVolatile(name)
    if name == Self.argumentDomain { environment.shared.renewLists(report: report) }
    postChange()
  }

  // MARK: - Persistent domains

  /// The contents of a domain, such as an app's or the global one; nil when it is empty or has no
  /// files.
  ///
  /// Other domains of the search list are not included. Costs a conversion of each value, and
  /// opening the domain if it isn't open.
  public func persistentDomain(forName name: String) -> [String: Any]? {
    let fields = reporting { () -> PropertyList.Fields? in
      try DomainName.check(name)
      let store = try ownStore(name) ?? plan.openPresent(name)
      return store.map { PropertyList.Fields($0.contents()) }
    }
    guard let found = fields ?? nil, !found.isEmpty else { return nil }
    return found.anyValue
  }

  /// Replaces everything in a domain, as one change, and creates the domain if it has no files.
  ///
  /// Errors go to `onError`; ``flush()`` throws while the contents are not stored.
  public func setPersistentDomain(_ contents: [String: Any], forName name: String) {
    reporting {
      try DomainName.check(name)
      let fields = try PropertyList.Fields(validating: contents)
      if ownStore(name) != nil {
        return try writing { target in try target.replaceContents(with: fields) }
      }
      try environment.shared.replaceContents(
        ofDomain: name, opening: { try plan.open(name, options: DomainStore.Options()) },
        with: fields)
      // The global domain, or a suite's, may just have been created.
      environment.shared.renewLists(report: report)
      postChange()
    }
  }

  /// Removes everything from a domain, as one change. Its files stay, empty.
  public func removePersistentDomain(forName name: String) {
    reporting {
      try DomainName.check(name)
      if ownStore(name) != nil { return try removeAll() }
      // Only if it has files: removing must not create a domain. The files stay, so no search list
      // changes.
      try environment.shared.replaceContents(
        ofDomain: name, opening: { try plan.openPresent(name) }, with: [:])
      postChange()
    }
  }

  private func ownStore(_ name: String) -> DomainStore? {
    // The own domain is open already, maybe read-only or with a quota.
    guard name == domain, plan.scope == .anyHost else { return nil }
    return search.list.target
  }

  // MARK: - Values forced by an administrator

  /// Whether an administrator has fixed the value of a key. Setting it stores a value, which has no
  /// effect.
  public func objectIsForced(forKey key: String) -> Bool {
    objectIsForced(forKey: key, inDomain: domain)
  }

  /// Whether an administrator has fixed the value of a key for a domain.
  public func objectIsForced(forKey key: String, inDomain domain: String) -> Bool {
    plan.managed(domain, report: report).contains { $0.store?.value(forKey: key) != nil }
  }
}
