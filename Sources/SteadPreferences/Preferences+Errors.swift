extension Preferences {
  /// Called with the errors of methods that do not throw.
  public typealias ErrorHandler = @Sendable (PreferencesError) -> Void

  /// Called for errors of preferences that have no handler of their own, and when
  /// ``init(suiteName:)`` returns nil.
  ///
  /// By default it passes the first error of each kind to `Stead.onProblem`.
  public static var onError: ErrorHandler {
    get { ErrorReports.sharedHandler }
    set { ErrorReports.sharedHandler = newValue }
  }

  /// Called for errors in methods of this object that do not throw; nil passes them to the type's
  /// handler.
  ///
  /// It runs on the thread of the call that failed, and may use the preferences.
  public var onError: ErrorHandler? {
    get { errors.handler }
    set { errors.handler = newValue }
  }

  /// The last error of a method of this object that does not throw; nil if there was none.
  public var lastError: PreferencesError? { errors.last }

  // MARK: - Reporting

  /// Runs a body, and passes its errors to the handlers; nil when it has failed.
  @discardableResult
  package func reporting<Value>(key: String? = nil, _ body: () throws -> Value) -> Value? {
    do {
      return try body()
    } catch {
      report(PreferencesError(error, domain: domain, key: key))
      return nil
    }
  }

  func report(_ error: PreferencesError) { errors.report(error) }

  // MARK: - Values that do not decode

  /// The maximum number of undecodable values that are kept aside for one key. Beyond it, writes
  /// fail with ``PreferencesError/Code/tooManyKeptAside``.
  public static let keptAsideLimit = 16

  /// The keys under which undecodable values of a key were kept aside when they were replaced.
  ///
  /// Before a typed key, a wrapper or SteadDefault's `DefaultStorable` replaces a value that does
  /// not decode, that value is stored unchanged under `<key>.undecodable`, then
  /// `<key>.undecodable.2`, and so on up to ``keptAsideLimit``. Read one with
  /// `propertyList(forKey:)`, and remove it when it is no longer needed:
  ///
  /// ```swift
  /// for key in preferences.undecodableKeys(for: "theme") {
  ///   print(preferences.propertyList(forKey: key) as Any)
  ///   preferences.removeObject(forKey: key)
  /// }
  /// ```
  public func undecodableKeys(for name: String) -> [String] {
    let domain = writableDomain
    return (1...Self.keptAsideLimit).map { Self.quarantineKey(of: name, number: $0) }
      .filter { domain.value(forKey: $0) != nil }
  }

  /// Replaces the writable domain's value with `new`. A value for which `check` throws is kept
  /// aside.
  ///
  /// The check and the replacement are one step only for a value that does not decode: that one
  /// must not be lost. A value that decodes may be replaced by another process in between, and is
  /// overwritten then, as `set` would.
  package func replace(
    with new: PropertyList?, forKey name: String, check: (PropertyList) throws -> Void
  ) throws {
    while let old = writableDomain.value(forKey: name) {
      do {
        try check(old)
        break
      } catch {
        // Otherwise another process has changed the stored value, and it has to be checked again.
        if try quarantine(old, replacingWith: new, forKey: name, cause: error) { return }
      }
    }
    try setPropertyList(new, forKey: name)
  }

  /// Replaces a value that does not decode, keeps it aside and reports it, as one change of the
  /// domain.
  ///
  /// - Returns: false when the key has another value by now. Nothing has changed then.
  func quarantine(
    _ old: PropertyList, replacingWith new: PropertyList?, forKey name: String, cause: any Error
  ) throws -> Bool {
    let kept = try freeQuarantineKey(old, of: name)
    // On both conditions: another process may have changed the value, or taken the free key.
    let isReplaced = try apply(
      [DomainEdit(key: kept.key, value: old), DomainEdit(key: name, value: new)],
      ifStill: [DomainEdit(key: name, value: old), kept])
    guard isReplaced else { return false }
    report(
      PreferencesError(
        code: .doesNotDecode,
        message: "A value that does not decode was replaced. It is kept under \(kept.key).",
        domain: domain, key: name, cause: cause))
    return true
  }

  /// Makes several changes of the writable domain as one if `expected` still holds, and returns
  /// whether it did.
  package func apply(
    _ edits: [DomainEdit], ifStill expected: [DomainEdit] = []
  ) throws -> Bool {
    var isDone = false
    do {
      try writing { target in
        isDone = try target.apply(edits, ifStill: expected)
      } ifDone: {
        isDone && !edits.isEmpty
      }
    } catch {
      throw PreferencesError(error, domain: domain, key: edits.last?.key)
    }
    return isDone
  }

  /// The first free key for a value that is kept aside, or the one that has this value already,
  /// with its current value.
  private func freeQuarantineKey(_ value: PropertyList, of name: String) throws -> DomainEdit {
    let store = writableDomain
    for number in 1...Self.keptAsideLimit {
      let candidate = Self.quarantineKey(of: name, number: number)
      let stored = store.value(forKey: candidate)
      // A key that has the same value already serves, so that repeated writes do not fill the
      // limit.
      if stored == nil || stored == value { return DomainEdit(key: candidate, value: stored) }
    }
    throw PreferencesError(
      code: .tooManyKeptAside,
      message: "The stored value does not decode, and \(Self.keptAsideLimit) such values are kept "
        + "aside already. Remove those that undecodableKeys(for:) lists, then write again.",
      domain: domain, key: name)
  }

  private static func quarantineKey(of name: String, number: Int) -> String {
    number == 1 ? "\(name).undecodable" : "\(name).undecodable.\(number)"
  }

  /// Reports that a value did not decode and the default was used.
  @usableFromInline
  func reportUndecodable(_ error: any Error, forKey name: String) {
    report(addingKey(name, to: error))
  }

  /// Adds the key to an error.
  ///
  /// An error of another type was thrown by the app's own conversion or decoding.
  func addingKey(_ name: String, to error: any Error) -> PreferencesError {
    let known =
      error as? PreferencesError
      ?? PreferencesError(
        code: .doesNotDecode, message: "The stored value could not be converted.", cause: error)
    return PreferencesError(known, domain: domain, key: name)
  }

  /// The domain that is written to, or what replaces it in memory.
  var writableDomain: DomainStore { search.list.target }
}
