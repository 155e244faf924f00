extension Preferences {
  /// How many values that do not decode are kept aside for one key; after that many writes are refused.
  public static let keptAsideLimit = 16

  /// The keys under which values of a key are kept aside that did not decode when they were replaced.
  ///
  /// Before a typed key, a wrapper or ``DefaultStorable`` replaces a value that does not decode, that
  /// value is stored as it is under `<key>.undecodable`, then `<key>.undecodable.2`, and so on up to
  /// ``keptAsideLimit``. Read one with ``propertyList(forKey:)``, and remove it when it is no longer
  /// needed.
  public func keysKeptAside(for name: String) -> [String] {
    let domain = writtenDomain
    return (1...Self.keptAsideLimit).map { Self.asideName(of: name, number: $0) }
      .filter { domain.value(forKey: $0) != nil }
  }

  /// Puts `new` in the place of what the app's domain has, which is kept aside when `check` throws.
  func replace(
    with new: PropertyList?, forKey name: String, check: (PropertyList) throws -> Void
  ) throws {
    guard let old = writtenDomain.value(forKey: name) else {
      return try setPropertyList(new, forKey: name)
    }
    do {
      try check(old)
    } catch {
      let aside = try nameToKeep(old, of: name)
      // One write: nothing can come between the two.
      try apply([DomainEdit(key: aside, value: old), DomainEdit(key: name, value: new)], key: name)
      return report(
        PreferencesError(
          code: .doesNotDecode,
          message: "A value that does not decode was replaced. It is kept under \(aside).",
          domain: self.domain, key: name, cause: error))
    }
    try setPropertyList(new, forKey: name)
  }

  /// Makes several changes of the app's domain as one.
  func apply(_ edits: [DomainEdit], key: String) throws {
    do {
      try writing { target in try target.apply(edits) }
    } catch {
      throw PreferencesError(error, domain: domain, key: key)
    }
  }

  /// The first name that is free to keep a value under, or under which it is kept already.
  private func nameToKeep(_ value: PropertyList, of name: String) throws -> String {
    let store = writtenDomain
    for number in 1...Self.keptAsideLimit {
      let aside = Self.asideName(of: name, number: number)
      guard let there = store.value(forKey: aside), there != value else { return aside }
    }
    throw PreferencesError(
      code: .tooManyKeptAside,
      message: "The stored value does not decode, and \(Self.keptAsideLimit) such values are kept "
        + "aside already. Remove those that keysKeptAside(for:) lists, then write again.",
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
  var writtenDomain: DomainStore { searchList.withLock { list in list.target } }
}
