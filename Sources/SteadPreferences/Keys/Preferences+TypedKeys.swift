extension Preferences {
  /// The value of a typed key.
  ///
  /// ```swift
  /// extension Preferences.Keys {
  ///   var theme: Preferences.Key<Theme> { .init("theme", default: .system) }
  /// }
  ///
  /// preferences[\.theme] = .dark
  /// ```
  ///
  /// A value that does not decode reads as the default, and `onError` is called at each read.
  /// Setting replaces it after keeping it aside (``undecodableKeys(for:)``). Errors of setting go
  /// to `onError`, too; `set(_:for:)` throws them.
  ///
  /// Costs `propertyList(forKey:)` and the conversion; plain values allocate nothing.
  @inlinable
  public subscript<Value>(path: KeyPath<Keys, Key<Value>>) -> Value {
    get { self[Keys()[keyPath: path]] }
    set { self[Keys()[keyPath: path]] = newValue }
  }

  /// The value of a typed key.
  ///
  /// As with a key path, for keys that are declared elsewhere than in ``Keys``.
  @inlinable
  public subscript<Value>(key: Key<Value>) -> Value {
    get {
      do {
        guard key.migrations.isEmpty else { return try migratedValue(of: key) ?? key.makeDefault() }
        guard let stored = propertyList(forKey: key.name) else { return key.makeDefault() }
        return try key.bridge.decode(stored)
      } catch {
        reportUndecodable(error, forKey: key.name)
        return key.makeDefault()
      }
    }
    set {
      setReported(newValue, for: key)
    }
  }

  /// The value of a typed key, or its default while nothing is stored.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode` when the stored value does not decode.
  @inlinable
  public func value<Value>(for path: KeyPath<Keys, Key<Value>>) throws -> Value {
    try value(for: Keys()[keyPath: path])
  }

  /// The value of a typed key, or its default while nothing is stored.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode` when the stored value does not decode.
  public func value<Value>(for key: Key<Value>) throws -> Value {
    do {
      guard key.migrations.isEmpty else { return try migratedValue(of: key) ?? key.makeDefault() }
      return try propertyList(forKey: key.name).map { try key.bridge.decode($0) }
        ?? key.makeDefault()
    } catch {
      throw addingKey(key.name, to: error)
    }
  }

  /// Sets the value of a typed key.
  ///
  /// - Throws: ``PreferencesError``, as the call with a key.
  @inlinable
  public func set<Value>(_ value: Value, for path: KeyPath<Keys, Key<Value>>) throws {
    try set(value, for: Keys()[keyPath: path])
  }

  /// Sets the value of a typed key; nil of an optional removes it.
  ///
  /// A stored value that does not decode is kept aside first, under ``undecodableKeys(for:)``. If
  /// another process stores such a value between the check and the write, it may be replaced.
  ///
  /// - Throws: ``PreferencesError``: `.notAPropertyList` when the value cannot be encoded,
  ///   `.tooManyKeptAside`, and those of ``setPropertyList(_:forKey:)``.
  public func set<Value>(_ value: Value, for key: Key<Value>) throws {
    let new: PropertyList?
    do {
      new = try key.bridge.encode(value)
    } catch let error as PreferencesError {
      throw PreferencesError(error, domain: domain, key: key.name)
    } catch {
      throw PreferencesError(
        code: .notAPropertyList,
        message: "The value could not be encoded; correct what the cause names.", domain: domain,
        key: key.name, cause: error)
    }
    guard !key.migrations.isEmpty else {
      return try replace(with: new, forKey: key.name) { _ = try key.bridge.decode($0) }
    }
    // Before the check, so that a value under an old name is not left behind.
    migrateOldNames(of: key)
    try replace(with: new, forKey: key.name) { _ = try key.read($0) }
  }

  /// Sets a value, and reports errors. Not inlined into programs, unlike its caller.
  @usableFromInline
  func setReported<Value>(_ value: Value, for key: Key<Value>) {
    reporting(key: key.name) { try set(value, for: key) }
  }

  /// Removes the values stored for a typed key and its old names, so that the default applies
  /// again.
  ///
  /// That also removes a value that does not decode. Errors go to `onError`.
  @inlinable
  public func reset<Value>(_ path: KeyPath<Keys, Key<Value>>) { reset(Keys()[keyPath: path]) }

  /// Removes the values stored for a typed key and its old names, so that the default applies
  /// again.
  public func reset<Value>(_ key: Key<Value>) {
    // The old names, too: otherwise the next read would move a value from there.
    let names = [key.name] + key.oldNames.map(\.name)
    reporting(key: key.name) {
      _ = try apply(names.map { DomainEdit(key: $0, value: nil) })
    }
  }

  /// Whether a typed key has been set: whether any domain except the registered defaults has a
  /// value, under its name or an old one.
  @inlinable
  public func isSet<Value>(_ path: KeyPath<Keys, Key<Value>>) -> Bool {
    isSet(Keys()[keyPath: path])
  }

  /// Whether a typed key has been set: whether any domain except the registered defaults has a
  /// value, under its name or an old one.
  public func isSet<Value>(_ key: Key<Value>) -> Bool {
    let names = [key.name] + key.oldNames.map(\.name)
    return layers.contains { layer in
      layer !== environment.shared.registration
        && names.contains { name in layer.value(forKey: name) != nil }
    }
  }

  // MARK: - Changes

  /// Calls a handler with each change of a typed key's value, as
  /// ``observe(_:includingOwn:_:)-(String,_,_)`` does for stored values.
  ///
  /// A value that does not decode is delivered as the default, and reported. A value under an old
  /// name of the key is moved first, and delivered once it is under the key's own.
  ///
  /// ```swift
  /// let token = preferences.observe(\.theme) { change in redraw(change.new) }
  /// ```
  ///
  /// - Returns: An object that keeps the observation alive; keep it.
  public func observe<Value: Sendable>(
    _ path: KeyPath<Keys, Key<Value>>, includingOwn: Bool = true,
    _ handler: @escaping @Sendable (PreferenceChange<Value>) -> Void
  ) -> PreferenceObservation {
    observe(Keys()[keyPath: path], includingOwn: includingOwn, handler)
  }

  /// Calls a handler with each change of a typed key's value.
  public func observe<Value: Sendable>(
    _ key: Key<Value>, includingOwn: Bool = true,
    _ handler: @escaping @Sendable (PreferenceChange<Value>) -> Void
  ) -> PreferenceObservation {
    migrateOldNames(of: key)
    let decoder = ChangeDecoder(key: key, preferences: self)
    return observe(key.name, includingOwn: includingOwn) { change in
      handler(decoder.decode(change))
    }
  }

  /// The changes of a typed key's value as an asynchronous sequence, which begins with this call.
  ///
  /// ```swift
  /// for await change in preferences.changes(for: \.theme) { redraw(change.new) }
  /// ```
  public func changes<Value: Sendable>(
    for path: KeyPath<Keys, Key<Value>>, includingOwn: Bool = true
  ) -> TypedPreferenceChanges<Value> {
    changes(for: Keys()[keyPath: path], includingOwn: includingOwn)
  }

  /// The changes of a typed key's value as an asynchronous sequence, which begins with this call.
  public func changes<Value: Sendable>(
    for key: Key<Value>, includingOwn: Bool = true
  ) -> TypedPreferenceChanges<Value> {
    migrateOldNames(of: key)
    return TypedPreferenceChanges(
      stored: changes(for: key.name, includingOwn: includingOwn),
      decoder: ChangeDecoder(key: key, preferences: self))
  }
}

/// The changes of a typed key's value as an asynchronous sequence; see ``PreferenceChanges`` for
/// what a slow consumer gets, and when it ends.
public struct TypedPreferenceChanges<Value: Sendable>: AsyncSequence, Sendable {
  /// A change with the value before it.
  public typealias Element = PreferenceChange<Value>
  /// It cannot fail.
  public typealias Failure = Never

  let stored: PreferenceChanges
  let decoder: ChangeDecoder<Value>

  /// An iterator.
  public func makeAsyncIterator() -> Iterator {
    Iterator(stored: stored.makeAsyncIterator(), decoder: decoder)
  }

  /// Returns changes as they occur.
  public struct Iterator: AsyncIteratorProtocol {
    var stored: PreferenceChanges.Iterator
    let decoder: ChangeDecoder<Value>

    /// The next change; nil once the task was cancelled.
    public mutating func next() async -> Element? { await next(isolation: #isolation) }

    /// The next change; nil once the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await stored.next(isolation: actor).map(decoder.decode)
    }
  }
}

/// Converts changes of stored values to those of a typed key, as reads of the key would.
struct ChangeDecoder<Value: Sendable>: Sendable {
  private let read: @Sendable (PropertyList?) -> Value

  init(key: Preferences.Key<Value>, preferences: Preferences) {
    // The observed object retains its observer, which must not retain it in turn.
    read = { [weak preferences] stored in
      guard let stored else { return key.defaultValue }
      do {
        return try key.read(stored).value
      } catch {
        preferences?.reportUndecodable(error, forKey: key.name)
        return key.defaultValue
      }
    }
  }

  /// Decodes changes of a key whose value is `initial` while nothing is stored.
  init(_ decoder: ChangeDecoder<Value?>, initial: Value) {
    read = { stored in decoder.read(stored) ?? initial }
  }

  func decode(_ change: PreferenceChange<PropertyList?>) -> PreferenceChange<Value> {
    change.map(read)
  }
}
