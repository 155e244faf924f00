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
    if let old = writtenDomain.value(forKey: name) {
      do {
        try check(old)
      } catch {
        let aside = try keepAside(old, of: name)
        report(
          PreferenceValueError(
            code: .doesNotDecode,
            message: "A value that does not decode was replaced. It is kept under \(aside).",
            key: name, cause: error))
      }
    }
    try setPropertyList(new, forKey: name)
  }

  /// Stores a value under the first free name, unless it is kept already, and returns that name.
  ///
  /// This is done before the value is replaced, so that it is there whatever happens in between.
  private func keepAside(_ value: PropertyList, of name: String) throws -> String {
    let domain = writtenDomain
    for number in 1...Self.keptAsideLimit {
      let aside = Self.asideName(of: name, number: number)
      guard let there = domain.value(forKey: aside) else {
        try setPropertyList(value, forKey: aside)
        return aside
      }
      if there == value { return aside }
    }
    throw PreferenceValueError(
      code: .tooManyKeptAside,
      message: "The stored value does not decode, and \(Self.keptAsideLimit) such values are kept "
        + "aside already. Remove those that keysKeptAside(for:) lists, then write again.",
      key: name)
  }

  private static func asideName(of name: String, number: Int) -> String {
    number == 1 ? "\(name).undecodable" : "\(name).undecodable.\(number)"
  }

  /// Tells the error handler that a value did not decode and the default was taken.
  @usableFromInline
  func reportUndecodable(_ error: any Error, forKey name: String) {
    report(Self.naming(name, in: error))
  }

  /// The error with the key that it was met at.
  static func naming(_ name: String, in error: any Error) -> PreferenceValueError {
    guard var named = error as? PreferenceValueError else {
      return PreferenceValueError(
        code: .doesNotDecode, message: "What is stored could not be converted.", key: name,
        cause: error)
    }
    named.key = named.key ?? name
    return named
  }

  /// The domain that is written to.
  var writtenDomain: DomainStore { searchList.withLock { list in list.target } }
}
