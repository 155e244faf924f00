extension EntityLayout {
  /// The index of the property that a key path reads.
  func propertyIndex(of keyPath: AnyKeyPath) -> Int? {
    propertyByKeyPath[keyPath] ?? traceProperty(keyPath)
  }

  /// The index of the property that a key path reads, found by reading it.
  func traceProperty(_ keyPath: AnyKeyPath) -> Int? { traced.index(of: keyPath, on: type) }
}
