extension Preferences {
  /// The value of a typed key: `preferences[\.theme]`.
  ///
  /// A value that does not decode reads as the default, and `onError` is called at each read. Setting
  /// replaces it after keeping it aside (``undecodableKeys(for:)``). Costs `propertyList(forKey:)` and the
  /// conversion; plain values allocate nothing.
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
        guard key.history.isEmpty else { return try valueWithHistory(of: key) ?? key.makeDefault() }
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

  /// The value of a typed key; throws ``PreferencesError`` when the stored value does not decode.
  @inlinable
  public func value<Value>(for path: KeyPath<Keys, Key<Value>>) throws -> Value {
    try value(for: Keys()[keyPath: path])
  }

  /// The value of a typed key; throws ``PreferencesError`` when the stored value does not decode.
  public func value<Value>(for key: Key<Value>) throws -> Value {
    do {
      guard key.history.isEmpty else { return try valueWithHistory(of: key) ?? key.makeDefault() }
      return try propertyList(forKey: key.name).map { try key.bridge.decode($0) }
        ?? key.makeDefault()
    } catch {
      throw naming(key.name, in: error)
    }
  }

  /// Sets the value of a typed key; throws when it could not be encoded or stored.
  @inlinable
  public func set<Value>(_ value: Value, for path: KeyPath<Keys, Key<Value>>) throws {
    try set(value, for: Keys()[keyPath: path])
  }

  /// Sets the value of a typed key; throws when it could not be encoded or stored.
  ///
  /// A stored value that does not decode is kept aside first, under ``undecodableKeys(for:)``. If another
  /// process stores such a value between the check and the write, it may be replaced.
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
    guard !key.history.isEmpty else {
      return try replace(with: new, forKey: key.name) { _ = try key.bridge.decode($0) }
    }
    adoptOldNames(of: key)
    try replace(with: new, forKey: key.name) { _ = try key.read($0) }
  }

  @usableFromInline
  func setReported<Value>(_ value: Value, for key: Key<Value>) {
    reporting(key: key.name) { try set(value, for: key) }
  }

  /// Removes the values stored for a typed key and its old names, so that the default applies again.
  ///
  /// That also removes a value that does not decode.
  @inlinable
  public func reset<Value>(_ path: KeyPath<Keys, Key<Value>>) { reset(Keys()[keyPath: path]) }

  /// Removes the values stored for a typed key and its old names, so that the default applies again.
  public func reset<Value>(_ key: Key<Value>) {
    let names = [key.name] + key.oldNames.map(\.name)
    reporting(key: key.name) {
      _ = try apply(names.map { DomainEdit(key: $0, value: nil) })
    }
  }

  /// Whether a typed key has been set: whether any domain except the registered defaults has a value.
  @inlinable
  public func isSet<Value>(_ path: KeyPath<Keys, Key<Value>>) -> Bool {
    isSet(Keys()[keyPath: path])
  }

  /// Whether a typed key has been set: whether any domain except the registered defaults has a value.
  public func isSet<Value>(_ key: Key<Value>) -> Bool {
    let names = [key.name] + key.oldNames.map(\.name)
    return layers.contains { layer in
      layer !== environment.shared.registration
        && names.contains { name in layer.value(forKey: name) != nil }
    }
  }
}
