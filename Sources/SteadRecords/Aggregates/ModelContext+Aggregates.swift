public import Foundation

// Sums, extremes and counts without fetching objects, in SQL where SQL gives Swift's result. With
// unsaved changes of the classes read, with a predicate or a property that SQL cannot hold, and for
// sums of `Decimal` and `UInt64`, the objects are fetched and the values added up in memory.
// Disfavoured, so that a function of an app's own with the same name wins over these.
extension ModelContext {
  /// The number of objects that match.
  @_disfavoredOverload
  public func count<T: PersistentModel>(
    _ type: T.Type, where predicate: Predicate<T>? = nil
  ) throws -> Int {
    try fetchCount(FetchDescriptor(predicate: predicate))
  }

  /// The sum of a property, zero when no object matches; nil counts as zero.
  ///
  /// Throws where the sum does not fit the property's type.
  @_disfavoredOverload
  public func sum<T: PersistentModel, V: Numeric>(
    of value: KeyPath<T, V>, where predicate: Predicate<T>? = nil
  ) throws -> V {
    try sums(value, { $0[keyPath: value] }, by: nil, NoGroup.self, predicate)[NoGroup()] ?? 0
  }
  @_disfavoredOverload
  public func sum<T: PersistentModel, V: Numeric>(
    of value: KeyPath<T, V?>, where predicate: Predicate<T>? = nil
  ) throws -> V {
    try sums(value, { $0[keyPath: value] }, by: nil, NoGroup.self, predicate)[NoGroup()] ?? 0
  }

  /// The average of a property's values that are not nil; nil when there is none.
  @_disfavoredOverload
  public func average<T: PersistentModel, V: Numeric>(
    of value: KeyPath<T, V>, where predicate: Predicate<T>? = nil
  ) throws -> Double? {
    try averages(value, { $0[keyPath: value] }, by: nil, NoGroup.self, predicate)[NoGroup()]
  }
  @_disfavoredOverload
  public func average<T: PersistentModel, V: Numeric>(
    of value: KeyPath<T, V?>, where predicate: Predicate<T>? = nil
  ) throws -> Double? {
    try averages(value, { $0[keyPath: value] }, by: nil, NoGroup.self, predicate)[NoGroup()]
  }

  /// The least value of a property; nil when there is none. Not-a-number is passed over.
  @_disfavoredOverload
  public func minimum<T: PersistentModel, V: Comparable>(
    of value: KeyPath<T, V>, where predicate: Predicate<T>? = nil
  ) throws -> V? {
    try extremes(
      .minimum, value, { $0[keyPath: value] }, by: nil, NoGroup.self, predicate)[NoGroup()]
  }
  @_disfavoredOverload
  public func minimum<T: PersistentModel, V: Comparable>(
    of value: KeyPath<T, V?>, where predicate: Predicate<T>? = nil
  ) throws -> V? {
    try extremes(
      .minimum, value, { $0[keyPath: value] }, by: nil, NoGroup.self, predicate)[NoGroup()]
  }

  /// The greatest value of a property; nil when there is none. Not-a-number is passed over.
  @_disfavoredOverload
  public func maximum<T: PersistentModel, V: Comparable>(
    of value: KeyPath<T, V>, where predicate: Predicate<T>? = nil
  ) throws -> V? {
    try extremes(
      .maximum, value, { $0[keyPath: value] }, by: nil, NoGroup.self, predicate)[NoGroup()]
  }
  @_disfavoredOverload
  public func maximum<T: PersistentModel, V: Comparable>(
    of value: KeyPath<T, V?>, where predicate: Predicate<T>? = nil
  ) throws -> V? {
    try extremes(
      .maximum, value, { $0[keyPath: value] }, by: nil, NoGroup.self, predicate)[NoGroup()]
  }

  /// All values of a property, each once.
  @_disfavoredOverload
  public func distinct<T: PersistentModel, V: Hashable>(
    _ value: KeyPath<T, V>, where predicate: Predicate<T>? = nil
  ) throws -> Set<V> {
    let request = AggregateRequest<T, NoGroup>(
      graph: graph, function: .values, value: value, group: nil, predicate: predicate)
    let values: [NoGroup: Set<V>] = try request.run(
      row: { state, row in
        guard let read = row.first?.decoded(as: V.self) else {
          throw AggregateRequest<T, NoGroup>.mismatch(value)
        }
        state = (state ?? []).union([read])
      },
      object: { state, model in state = (state ?? []).union([model[keyPath: value]]) })
    return values[NoGroup()] ?? []
  }
}
