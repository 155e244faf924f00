extension Preferences {
  /// The value of a key with earlier names or types; nil when nothing is stored under any.
  ///
  /// Moves and converts the app domain's value. If that fails, as on a disk that is full or read-only, the
  /// value stays as it is and is used nevertheless.
  @usableFromInline
  func valueWithHistory<Value>(of key: Key<Value>) throws -> Value? {
    adoptOldNames(of: key)
    if let stored = propertyList(forKey: key.name) {
      let (value, isConverted) = try key.read(stored)
      if isConverted, let converted = try key.bridge.encode(value) {
        _ = try? apply(
          [DomainEdit(key: key.name, value: converted)],
          ifStill: [DomainEdit(key: key.name, value: stored)])
      }
      return value
    }
    for old in key.oldNames {
      guard let stored = propertyList(forKey: old.name) else { continue }
      return try old.conversion.map { try $0.convert(stored) } ?? key.read(stored).value
    }
    return nil
  }

  /// Moves the app domain's value from an old name to the key's own, if that has none.
  ///
  /// A value that cannot be converted stays under its old name.
  func adoptOldNames<Value>(of key: Key<Value>) {
    let domain = writtenDomain
    guard domain.value(forKey: key.name) == nil else { return }
    for old in key.oldNames {
      guard let stored = domain.value(forKey: old.name) else { continue }
      let moved =
        try? old.conversion.map { try key.bridge.encode(try $0.convert(stored)) } ?? stored
      guard let moved else { continue }
      _ = try? apply(
        [DomainEdit(key: key.name, value: moved), DomainEdit(key: old.name, value: nil)],
        ifStill: [
          DomainEdit(key: key.name, value: nil), DomainEdit(key: old.name, value: stored),
        ])
    }
  }
}
