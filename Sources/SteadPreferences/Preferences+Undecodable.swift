extension Preferences {
  /// How many values that do not decode are kept aside for one key; after that many writes are refused.
  public static let keptAsideLimit = 16

  /// The keys under which values of a key are kept aside that did not decode when they were replaced.
  ///
  /// Before a typed key, a wrapper or SteadDefault's `DefaultStorable` replaces a value that does not decode, that
  /// value is stored as it is under `<key>.undecodable`, then `<key>.undecodable.2`, and so on up to
  /// ``keptAsideLimit``. Read one with `propertyList(forKey:)`, and remove it when it is no longer
  /// needed.
  public func undecodableKeys(for name: String) -> [String] {
    let domain = writtenDomain
    return (1...Self.keptAsideLimit).map { Self.asideName(of: name, number: $0) }
      .filter { domain.value(forKey: $0) != nil }
  }

  /// Puts `new` in the place of what the app's domain has, which is kept aside when `check` throws.
  package func replace(
    with new: PropertyList?, forKey name: String, check: (PropertyList) throws -> Void
  ) throws {
    while let old = writtenDomain.value(forKey: name) {
      do {
        try check(old)
        break
      } catch {
        // Else somebody has changed what is stored, and it is to be looked at again.
        if try keepAside(old, replacingWith: new, forKey: name, cause: error) { return }
      }
    }
    try setPropertyList(new, forKey: name)
  }

  /// Puts `new` in the place of a value that does not decode, which is kept aside and reported; false
  /// when the key has another value by now.
  func keepAside(
    _ old: PropertyList, replacingWith new: PropertyList?, forKey name: String, cause: any Error
  ) throws -> Bool {
    let aside = try nameToKeep(old, of: name)
    let isReplaced = try apply(
      [DomainEdit(key: aside.key, value: old), DomainEdit(key: name, value: new)],
      ifStill: [DomainEdit(key: name, value: old), aside])
    guard isReplaced else { return false }
    report(
      PreferencesError(
        code: .doesNotDecode,
        message: "A value that does not decode was replaced. It is kept under \(aside.key).",
        domain: domain, key: name, cause: cause))
    return true
  }

  /// Makes several changes of the app's domain as one if `expected` still holds, and tells whether.
  package func apply(
    _ edits: [DomainEdit], ifStill expected: [DomainEdit] = []
  ) throws -> Bool {
    var isDone = false
    do {
      try writing { target in isDone = try target.apply(edits, ifStill: expected) }
    } catch {
      throw PreferencesError(error, domain: domain, key: edits.last?.key)
    }
    return isDone
  }

  /// The first key that is free to keep a value under, or under which it is kept already, as it is now.
  private func nameToKeep(_ value: PropertyList, of name: String) throws -> DomainEdit {
    let store = writtenDomain
    for number in 1...Self.keptAsideLimit {
      let aside = Self.asideName(of: name, number: number)
      let there = store.value(forKey: aside)
      if there == nil || there == value { return DomainEdit(key: aside, value: there) }
    }
    throw PreferencesError(
      code: .tooManyKeptAside,
      message: "The stored value does not decode, and \(Self.keptAsideLimit) such values are kept "
        + "aside already. Remove those that undecodableKeys(for:) lists, then write again.",
      domain: domain, key: name)
  }

  private static func asideName(of name: String, number: Int) -> String {
    number == 1 ? "\(name).undecodable" : "\(name).undecodable.\(number)"
  }

  /// Tells the error handler that a value did not decode and the default was taken.
  @usableFromInline
  func reportUndecodable(_ error: any Error, forKey name: String) {
    report(naming(name, in: error))
  }

  /// The error with the key that it was met at.
  ///
  /// One that is none of ours was thrown by a conversion of the app's, or by its own way to decode.
  func naming(_ name: String, in error: any Error) -> PreferencesError {
    let known =
      error as? PreferencesError
      ?? PreferencesError(
        code: .doesNotDecode, message: "What is stored could not be converted.", cause: error)
    return PreferencesError(known, domain: domain, key: name)
  }

  /// The domain that is written to.
  var writtenDomain: DomainStore { search.list.target }
}
