import Foundation

extension Preferences {
  /// The effective value of a key; nil if it has none.
  ///
  /// It is a `String`, `NSNumber`, `Date`, `Data`, `[Any]` or `[String: Any]`. A number can be cast
  /// to each Swift type that holds it exactly, as on Apple's systems:
  ///
  /// ```swift
  /// preferences.set(5, forKey: "count")
  /// preferences.object(forKey: "count") as? Int       // 5
  /// preferences.object(forKey: "count") as? Double    // 5.0
  /// ```
  ///
  /// The conversion to objects costs more than a look-up. Prefer the method of the type, or a typed
  /// key.
  public func object(forKey key: String) -> Any? {
    propertyList(forKey: key)?.anyValue
  }

  /// The effective value of a key: ``object(forKey:)`` under the name of key-value coding.
  public func value(forKey key: String) -> Any? { object(forKey: key) }

  /// A string, or a number as a string, with true as `1`; nil for any other value.
  public func string(forKey key: String) -> String? { propertyList(forKey: key)?.text }

  /// An array; nil for any other value.
  ///
  /// The elements are as ``object(forKey:)`` would return them, and converted each time: a typed
  /// key of `[String]` or `[Int]` costs less.
  public func array(forKey key: String) -> [Any]? {
    guard case .array(let values)? = propertyList(forKey: key) else { return nil }
    return values.map(\.anyValue)
  }

  /// A dictionary; nil for any other value.
  ///
  /// The values are as ``object(forKey:)`` would return them, and converted each time.
  public func dictionary(forKey key: String) -> [String: Any]? {
    guard case .dictionary(let fields)? = propertyList(forKey: key) else { return nil }
    return fields.anyValue
  }

  /// Data; nil for any other value.
  public func data(forKey key: String) -> Data? {
    guard case .data(let data)? = propertyList(forKey: key) else { return nil }
    return data
  }

  /// An array of strings; nil for any other value, even if only one element is a number, which is
  /// not converted.
  public func stringArray(forKey key: String) -> [String]? { propertyList(forKey: key)?.strings }

  /// A whole number; 0 for a value that is none, and while nothing is stored.
  ///
  /// A fraction is dropped, true is 1, and of a string the number counts that it begins with. A
  /// number out of range becomes the nearest one.
  public func integer(forKey key: String) -> Int { propertyList(forKey: key)?.int ?? 0 }

  /// A 32-bit number; 0 for a value that is none, and while nothing is stored. Converts as
  /// ``double(forKey:)``.
  public func float(forKey key: String) -> Float { propertyList(forKey: key)?.floatValue ?? 0 }

  /// A 64-bit number; 0 for a value that is none, and while nothing is stored.
  ///
  /// True is 1, and of a string the number counts that it begins with.
  public func double(forKey key: String) -> Double { propertyList(forKey: key)?.doubleValue ?? 0 }

  /// A boolean; false for a value that is none, and while nothing is stored.
  ///
  /// True are a number other than 0, and the strings `YES`, `true` and `1` in upper or lower case.
  public func bool(forKey key: String) -> Bool { propertyList(forKey: key)?.boolValue ?? false }

  /// A URL that `set` has stored, or a string as the path of a file, `~` being the home directory;
  /// nil for any other value.
  ///
  /// A string that looks like a web address is read as a path, too, as on Apple's systems.
  public func url(forKey key: String) -> URL? { propertyList(forKey: key)?.url }

  // MARK: - Setting

  /// Sets a value in the writable domain; nil removes the key.
  ///
  /// When it returns, the value is in the journal, and survives the end of the process, however
  /// that ends. It takes about 0.3 microseconds, or some microseconds while other processes write,
  /// however many keys exist.
  ///
  /// A property list can contain strings, numbers, booleans, dates, data, and arrays and
  /// dictionaries of them; other values are refused, and `onError` is called. A URL is stored as
  /// the overload for URLs stores it. ``strict`` has the same call, which throws its errors.
  public func set(_ value: Any?, forKey key: String) {
    reporting(key: key) { try store(value, forKey: key) }
  }

  /// Validates and sets a value of any type.
  func store(_ value: Any?, forKey key: String) throws {
    guard let value else { return try setPropertyList(nil, forKey: key) }
    // Before validation, which would refuse it.
    if let url = value as? URL { return try setPropertyList(PropertyList(url: url), forKey: key) }
    try setPropertyList(PropertyList(validating: value), forKey: key)
  }

  /// Sets a value; nil removes the key. This is ``set(_:forKey:)-(Any?,String)`` under the name of
  /// key-value coding.
  public func setValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }

  /// Sets a whole number, without the validation and boxing that a value of any type costs.
  public func set(_ value: Int, forKey key: String) { write(.integer(Int64(value)), key) }

  /// Sets a 32-bit floating-point number, which keeps its type in the journal.
  public func set(_ value: Float, forKey key: String) { write(.float(value), key) }

  /// Sets a 64-bit floating-point number.
  public func set(_ value: Double, forKey key: String) { write(.double(value), key) }

  /// Sets a boolean.
  public func set(_ value: Bool, forKey key: String) { write(.bool(value), key) }

  /// Sets a URL; nil removes the key.
  ///
  /// A file URL is stored as its path, with `~` for the home directory; any other as an archive
  /// that ``url(forKey:)`` can read, as can `UserDefaults` on Apple's systems.
  public func set(_ url: URL?, forKey key: String) {
    reporting(key: key) {
      try setPropertyList(try url.map { try PropertyList(url: $0) }, forKey: key)
    }
  }

  /// Removes a key from the writable domain. The value of another domain becomes effective, such as
  /// a registered default.
  public func removeObject(forKey key: String) { write(nil, key) }

  /// Removes all keys from the writable domain, as one change. Values of other domains become
  /// effective.
  ///
  /// - Throws: ``PreferencesError``, as `setPropertyList(_:forKey:)`.
  public func removeAll() throws {
    try wrappingErrors { try writing { target in try target.replaceContents(with: [:]) } }
  }

  /// Sets a value, and reports errors.
  private func write(_ value: PropertyList?, _ key: String) {
    do {
      try setPropertyList(value, forKey: key)
    } catch {
      report(PreferencesError(error, domain: domain, key: key))
    }
  }

  /// Runs a body, and wraps its errors with the domain's name.
  func wrappingErrors<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      throw PreferencesError(error, domain: domain)
    }
  }

  // MARK: - Setting with errors

  /// The same preferences, whose changes throw errors instead of passing them to `onError`.
  ///
  /// For programs that end with an exit status, such as command-line tools: where nothing can be
  /// stored, for instance without a home directory, `set(_:forKey:)` only reports, and the tool
  /// would end as if it had succeeded.
  ///
  /// ```swift
  /// try Preferences.standard.strict.set("dark", forKey: "theme")
  /// ```
  ///
  /// Typed keys have throwing calls without it: ``set(_:for:)-(_,Key<Value>)``. A program that sets
  /// values without either can check at its end all that it has set through an object, also by
  /// ``setPersistentDomain(_:forName:)``: ``flush()`` of that object throws while any of it is in
  /// memory alone.
  public var strict: Strict { Strict(preferences: self) }

  /// Changes of preferences that throw; see ``Preferences/strict``.
  public struct Strict: Sendable {
    let preferences: Preferences

    /// Sets a value; nil removes the key.
    ///
    /// Takes the values that ``Preferences/set(_:forKey:)-(Any?,String)`` takes, and costs the
    /// same. When it returns, the value survives the end of the process.
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
