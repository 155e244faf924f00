public import Foundation
import SteadSQLite

// Sums, extremes and counts without fetching objects, computed in SQL where SQL gives the same result as Swift. The
// objects are fetched and the values added up in memory if the classes read have unsaved changes, if SQL cannot express
// the predicate or the property, and for sums of `Decimal` and `UInt64`. Disfavoured, so that an app's own function
// with the same name wins over these.
extension ModelContext {
  /// The number of objects that match. Costs and throws what ``ModelContext/fetchCount(_:)`` does.
  ///
  /// ```swift
  /// let open = try context.count(Task.self, where: #Predicate { !$0.isDone })
  /// ```
  @_disfavoredOverload
  public func count<T: PersistentModel>(
    _ type: T.Type, where predicate: Predicate<T>? = nil
  ) throws -> Int {
    try fetchCount(FetchDescriptor(predicate: predicate))
  }

  /// The sum of a property; zero if no object matches, and nil counts as zero.
  ///
  /// ```swift
  /// let total = try context.sum(of: \Order.amount, where: #Predicate { $0.isPaid })
  /// ```
  ///
  /// Sums of `Decimal` and `UInt64` are made from fetched objects, since SQLite would add them as floating-point
  /// numbers.
  ///
  /// Integers are added exactly, and only the whole sum has to fit: that of `Int.max`, 1 and -5 does. Floating-point
  /// numbers are added in `Double`, in no defined order. A sum that their type does not reach is infinite, as with
  /// Swift's `+`, and a value that is not a number makes it NaN, as infinities of both signs do.
  ///
  /// - Throws: ``SwiftDataError/storeFailure`` if the sum of integers does not fit the property's type, or a sum of
  ///   `Decimal` on the way does not, ``SwiftDataError/unreadableValue`` if a column does not hold a number where SQL
  ///   adds (in memory it counts as it is read, mostly 0), and what ``fetch(_:)`` throws.
  @_disfavoredOverload
  public func sum<T: PersistentModel, V: Numeric>(
    of value: KeyPath<T, V>, where predicate: Predicate<T>? = nil
  ) throws -> V {
    try sums(value, { $0[keyPath: value] }, by: nil, NoGroup.self, predicate)[NoGroup()] ?? 0
  }
  /// The sum of an optional property; nil counts as zero. Costs and throws what the sum of a required property does.
  @_disfavoredOverload
  public func sum<T: PersistentModel, V: Numeric>(
    of value: KeyPath<T, V?>, where predicate: Predicate<T>? = nil
  ) throws -> V {
    try sums(value, { $0[keyPath: value] }, by: nil, NoGroup.self, predicate)[NoGroup()] ?? 0
  }

  /// The average of a property's non-nil values; nil if there are none.
  ///
  /// ```swift
  /// let mean = try context.average(of: \Order.amount) ?? 0
  /// ```
  ///
  /// Computed with `Double`: large integers lose digits, and the average of floating-point numbers whose sum is
  /// infinite is, too. That of an app's own number type is NaN, unless the type has a number as its raw value.
  ///
  /// - Throws: ``SwiftDataError/unreadableValue`` if a column does not hold a number where SQL adds, as with
  ///   ``sum(of:where:)``, and what ``fetch(_:)`` throws.
  @_disfavoredOverload
  public func average<T: PersistentModel, V: Numeric>(
    of value: KeyPath<T, V>, where predicate: Predicate<T>? = nil
  ) throws -> Double? {
    try averages(value, { $0[keyPath: value] }, by: nil, NoGroup.self, predicate)[NoGroup()]
  }
  /// The average of an optional property's values; nil if there are none.
  @_disfavoredOverload
  public func average<T: PersistentModel, V: Numeric>(
    of value: KeyPath<T, V?>, where predicate: Predicate<T>? = nil
  ) throws -> Double? {
    try averages(value, { $0[keyPath: value] }, by: nil, NoGroup.self, predicate)[NoGroup()]
  }

  /// The least value of a property; nil if there are none. NaN is skipped.
  ///
  /// Ordered as Swift's `<` orders the values.
  ///
  /// ```swift
  /// let first = try context.minimum(of: \Trip.start, where: #Predicate { !$0.isCancelled })
  /// ```
  ///
  /// - Throws: ``SwiftDataError/unreadableValue`` if a column does not hold a value of the type, and what ``fetch(_:)``
  ///   throws.
  @_disfavoredOverload
  public func minimum<T: PersistentModel, V: Comparable>(
    of value: KeyPath<T, V>, where predicate: Predicate<T>? = nil
  ) throws -> V? {
    try extremes(
      .minimum, value, { $0[keyPath: value] }, by: nil, NoGroup.self, predicate)[NoGroup()]
  }
  /// The least value of an optional property; nil if there are none. NaN is skipped.
  @_disfavoredOverload
  public func minimum<T: PersistentModel, V: Comparable>(
    of value: KeyPath<T, V?>, where predicate: Predicate<T>? = nil
  ) throws -> V? {
    try extremes(
      .minimum, value, { $0[keyPath: value] }, by: nil, NoGroup.self, predicate)[NoGroup()]
  }

  /// The greatest value of a property; nil if there are none. NaN is skipped.
  ///
  /// Costs and throws what `minimum(of:where:)` does.
  @_disfavoredOverload
  public func maximum<T: PersistentModel, V: Comparable>(
    of value: KeyPath<T, V>, where predicate: Predicate<T>? = nil
  ) throws -> V? {
    try extremes(
      .maximum, value, { $0[keyPath: value] }, by: nil, NoGroup.self, predicate)[NoGroup()]
  }
  /// The greatest value of an optional property; nil if there are none. NaN is skipped.
  @_disfavoredOverload
  public func maximum<T: PersistentModel, V: Comparable>(
    of value: KeyPath<T, V?>, where predicate: Predicate<T>? = nil
  ) throws -> V? {
    try extremes(
      .maximum, value, { $0[keyPath: value] }, by: nil, NoGroup.self, predicate)[NoGroup()]
  }

  /// All different values of a property. Two strings that are equal in Swift are one value.
  ///
  /// ```swift
  /// let cities = try context.distinct(\Club.city).sorted()
  /// ```
  ///
  /// - Throws: ``SwiftDataError/unreadableValue`` if a column does not hold a value of the type, and what ``fetch(_:)``
  ///   throws.
  @_disfavoredOverload
  public func distinct<T: PersistentModel, V: Hashable>(
    _ value: KeyPath<T, V>, where predicate: Predicate<T>? = nil
  ) throws -> Set<V> {
    let request = AggregateRequest<T, NoGroup>(
      graph: linkedGraph(), function: .values, value: value, group: nil, predicate: predicate)
    let values: [NoGroup: Set<V>] = try request.run(
      row: { state, row in
        guard let read = row.first?.decoded(as: V.self) else {
          throw request.mismatch(value)
        }
        state = (state ?? []).union([read])
      },
      object: { state, model in state = (state ?? []).union([model[keyPath: value]]) })
    return values[NoGroup()] ?? []
  }
}

// MARK: - Groups

// Aggregates for each value of another property; disfavoured, so that functions of apps win over them.
extension ModelContext {
  /// The number of objects for each value of a property.
  ///
  /// ```swift
  /// let sizes = try context.counts(of: Package.self, by: \.section)
  /// ```
  ///
  /// A value without objects is not in the result. Costs one pass over the rows that match, and memory for the groups.
  ///
  /// - Throws: ``SwiftDataError/unreadableValue`` if a column does not hold a value of the type, and what ``fetch(_:)``
  ///   throws.
  @_disfavoredOverload
  public func counts<T: PersistentModel, K: Hashable>(
    of type: T.Type, by group: KeyPath<T, K>, where predicate: Predicate<T>? = nil
  ) throws -> [K: Int] {
    let request = AggregateRequest<T, K>(
      graph: linkedGraph(), function: .count, value: nil, group: group, predicate: predicate)
    return try request.run(
      row: { state, row in
        guard let count = row.first?.decoded(as: Int.self) else {
          throw request.mismatch(nil)
        }
        state = (state ?? 0) + count
      },
      object: { state, _ in state = (state ?? 0) + 1 })
  }

  /// The sum of a property for each value of another; nil counts as zero.
  ///
  /// ```swift
  /// let spent = try context.sums(of: \Order.amount, by: \.customerName)
  /// ```
  ///
  /// Throws what `sum(of:where:)` throws, if the sum of one group does not fit.
  @_disfavoredOverload
  public func sums<T: PersistentModel, V: Numeric, K: Hashable>(
    of value: KeyPath<T, V>, by group: KeyPath<T, K>, where predicate: Predicate<T>? = nil
  ) throws -> [K: V] {
    try sums(value, { $0[keyPath: value] }, by: group, K.self, predicate)
  }
  /// The sum of an optional property for each value of another; nil counts as zero.
  @_disfavoredOverload
  public func sums<T: PersistentModel, V: Numeric, K: Hashable>(
    of value: KeyPath<T, V?>, by group: KeyPath<T, K>, where predicate: Predicate<T>? = nil
  ) throws -> [K: V] {
    try sums(value, { $0[keyPath: value] }, by: group, K.self, predicate)
  }

  /// The average of a property for each value of another; groups without a value are left out.
  ///
  /// ```swift
  /// let ratings = try context.averages(of: \Review.stars, by: \.productName)
  /// ```
  ///
  /// - Throws: What `average(of:where:)` throws.
  @_disfavoredOverload
  public func averages<T: PersistentModel, V: Numeric, K: Hashable>(
    of value: KeyPath<T, V>, by group: KeyPath<T, K>, where predicate: Predicate<T>? = nil
  ) throws -> [K: Double] {
    try averages(value, { $0[keyPath: value] }, by: group, K.self, predicate)
  }
  /// The average of an optional property for each value of another; groups without a value are left out.
  @_disfavoredOverload
  public func averages<T: PersistentModel, V: Numeric, K: Hashable>(
    of value: KeyPath<T, V?>, by group: KeyPath<T, K>, where predicate: Predicate<T>? = nil
  ) throws -> [K: Double] {
    try averages(value, { $0[keyPath: value] }, by: group, K.self, predicate)
  }

  /// The least value of a property for each value of another; groups without a value are left out.
  ///
  /// ```swift
  /// let cheapest = try context.minimums(of: \Offer.price, by: \.productName)
  /// ```
  ///
  /// - Throws: What `minimum(of:where:)` throws.
  @_disfavoredOverload
  public func minimums<T: PersistentModel, V: Comparable, K: Hashable>(
    of value: KeyPath<T, V>, by group: KeyPath<T, K>, where predicate: Predicate<T>? = nil
  ) throws -> [K: V] {
    try extremes(.minimum, value, { $0[keyPath: value] }, by: group, K.self, predicate)
  }
  /// The least value of an optional property for each value of another; groups without a value are left out.
  @_disfavoredOverload
  public func minimums<T: PersistentModel, V: Comparable, K: Hashable>(
    of value: KeyPath<T, V?>, by group: KeyPath<T, K>, where predicate: Predicate<T>? = nil
  ) throws -> [K: V] {
    try extremes(.minimum, value, { $0[keyPath: value] }, by: group, K.self, predicate)
  }

  /// The greatest value of a property for each value of another; groups without one are left out.
  ///
  /// ```swift
  /// let newest = try context.maximums(of: \Message.date, by: \.channelName)
  /// ```
  ///
  /// - Throws: What `minimum(of:where:)` throws.
  @_disfavoredOverload
  public func maximums<T: PersistentModel, V: Comparable, K: Hashable>(
    of value: KeyPath<T, V>, by group: KeyPath<T, K>, where predicate: Predicate<T>? = nil
  ) throws -> [K: V] {
    try extremes(.maximum, value, { $0[keyPath: value] }, by: group, K.self, predicate)
  }
  /// The greatest value of an optional property for each value of another; groups without a value are left out.
  @_disfavoredOverload
  public func maximums<T: PersistentModel, V: Comparable, K: Hashable>(
    of value: KeyPath<T, V?>, by group: KeyPath<T, K>, where predicate: Predicate<T>? = nil
  ) throws -> [K: V] {
    try extremes(.maximum, value, { $0[keyPath: value] }, by: group, K.self, predicate)
  }
}
