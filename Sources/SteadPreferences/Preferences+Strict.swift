extension Preferences {
  /// The same preferences, whose changes throw errors instead of passing them to `onError`.
  ///
  /// For programs that end with an exit status, such as command-line tools: where nothing can be stored, for
  /// instance without a home directory, `set(_:forKey:)` only reports, and the tool would end as if it had succeeded.
  ///
  /// ```swift
  /// try Preferences.standard.strict.set("dark", forKey: "theme")
  /// ```
  ///
  /// Typed keys have throwing calls without it: ``set(_:for:)-(_,Key<Value>)``. A program that sets values without
  /// either can check at its end all that it has set through an object, also by ``setPersistentDomain(_:forName:)``: ``flush()``
  /// of that object throws while any of it is in memory alone.
  public var strict: Strict { Strict(preferences: self) }

  /// Changes of preferences that throw; see ``Preferences/strict``.
  public struct Strict: Sendable {
    let preferences: Preferences

    /// Sets a value; nil removes the key.
    ///
    /// Takes the values that ``Preferences/set(_:forKey:)-(Any?,String)`` takes, and costs the same. When it returns,
    /// the value survives the end of the process.
    ///
    /// - Throws: ``PreferencesError``: `.notAPropertyList` for a value that isn't one, and those of
    ///   ``Preferences/setPropertyList(_:forKey:)``.
    public func set(_ value: Any?, forKey key: String) throws {
      do {
        try preferences.store(value, forKey: key)
      } catch {
        throw PreferencesError(error, domain: preferences.domain, key: key)
      }
    }

    /// Removes a key from the domain; another domain's value for it becomes effective.
    ///
    /// - Throws: ``PreferencesError``, as ``Preferences/setPropertyList(_:forKey:)``.
    public func removeObject(forKey key: String) throws { try set(nil, forKey: key) }
  }
}
