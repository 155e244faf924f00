import Synchronization

/// Key paths that the metadata does not list, and the properties that they turned out to read.
///
/// In generic code `\\T.name` differs from the key path `\\Task.name`, and so does a subclass's path to an inherited
/// property. Reading it on an object that only records reads shows which property it is.
final class TracedKeyPaths: Sendable {
  private struct Known: @unchecked Sendable {
    // Sendable: key paths are immutable, and these hold no captured values.
    var indices: [AnyKeyPath: Int?] = [:]
  }

  private let known = Mutex(Known())

  func index(of keyPath: AnyKeyPath, on type: any PersistentModel.Type) -> Int? {
    // A key path of unknown parts cannot be sent into the lock's closure; it is only compared.
    nonisolated(unsafe) let keyPath = keyPath
    if let index = known.withLock({ $0.indices[keyPath] }) { return index }
    let index = Self.read(keyPath, on: type)
    known.withLock { $0.indices[keyPath] = .some(index) }
    return index
  }

  /// The index of the stored property that reading a key path reads last.
  static func read(_ keyPath: AnyKeyPath, on type: any PersistentModel.Type) -> Int? {
    let probe = type.init(_row: .empty)
    probe._$statePointer.pointee.set(_ModelFlags.probe)
    let subject: Any = probe
    _ = subject[keyPath: keyPath]
    return probe._$statePointer.pointee.extra?.probed
  }
}
