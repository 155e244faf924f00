public import Foundation
import SteadSQLite

// Aggregates for each value of another property; disfavoured, so that functions of apps win over them.
extension ModelContext {
  /// The number of objects for each value of a property.
  ///
  /// ```swift
  /// let sizes = try context.counts(of: Package.self, by: \.section)
  /// ```
  @_disfavoredOverload
  public func counts<T: PersistentModel, K: Hashable>(
    of type: T.Type, by group: KeyPath<T, K>, where predicate: Predicate<T>? = nil
  ) throws -> [K: Int] {
    let request = AggregateRequest<T, K>(
      graph: graph, function: .count, value: nil, group: group, predicate: predicate)
    return try request.run(
      row: { state, row in
        guard let count = row.first?.decoded(as: Int.self) else {
          throw AggregateRequest<T, K>.mismatch(nil)
        }
        state = (state ?? 0) + count
      },
      object: { state, _ in state = (state ?? 0) + 1 })
  }

  /// The sum of a property for each value of another; nil counts as zero.
  @_disfavoredOverload
  public func sums<T: PersistentModel, V: Numeric, K: Hashable>(
    of value: KeyPath<T, V>, by group: KeyPath<T, K>, where predicate: Predicate<T>? = nil
  ) throws -> [K: V] {
    try sums(value, { $0[keyPath: value] }, by: group, K.self, predicate)
  }
  @_disfavoredOverload
  public func sums<T: PersistentModel, V: Numeric, K: Hashable>(
    of value: KeyPath<T, V?>, by group: KeyPath<T, K>, where predicate: Predicate<T>? = nil
  ) throws -> [K: V] {
    try sums(value, { $0[keyPath: value] }, by: group, K.self, predicate)
  }

  /// The average of a property for each value of another; groups without a value are left out.
  @_disfavoredOverload
  public func averages<T: PersistentModel, V: Numeric, K: Hashable>(
    of value: KeyPath<T, V>, by group: KeyPath<T, K>, where predicate: Predicate<T>? = nil
  ) throws -> [K: Double] {
    try averages(value, { $0[keyPath: value] }, by: group, K.self, predicate)
  }
  @_disfavoredOverload
  public func averages<T: PersistentModel, V: Numeric, K: Hashable>(
    of value: KeyPath<T, V?>, by group: KeyPath<T, K>, where predicate: Predicate<T>? = nil
  ) throws -> [K: Double] {
    try averages(value, { $0[keyPath: value] }, by: group, K.self, predicate)
  }

  /// The least value of a property for each value of another; groups without a value are left out.
  @_disfavoredOverload
  public func minimums<T: PersistentModel, V: Comparable, K: Hashable>(
    of value: KeyPath<T, V>, by group: KeyPath<T, K>, where predicate: Predicate<T>? = nil
  ) throws -> [K: V] {
    try extremes(.minimum, value, { $0[keyPath: value] }, by: group, K.self, predicate)
  }
  @_disfavoredOverload
  public func minimums<T: PersistentModel, V: Comparable, K: Hashable>(
    of value: KeyPath<T, V?>, by group: KeyPath<T, K>, where predicate: Predicate<T>? = nil
  ) throws -> [K: V] {
    try extremes(.minimum, value, { $0[keyPath: value] }, by: group, K.self, predicate)
  }

  /// The greatest value of a property for each value of another; groups without one are left out.
  @_disfavoredOverload
  public func maximums<T: PersistentModel, V: Comparable, K: Hashable>(
    of value: KeyPath<T, V>, by group: KeyPath<T, K>, where predicate: Predicate<T>? = nil
  ) throws -> [K: V] {
    try extremes(.maximum, value, { $0[keyPath: value] }, by: group, K.self, predicate)
  }
  @_disfavoredOverload
  public func maximums<T: PersistentModel, V: Comparable, K: Hashable>(
    of value: KeyPath<T, V?>, by group: KeyPath<T, K>, where predicate: Predicate<T>? = nil
  ) throws -> [K: V] {
    try extremes(.maximum, value, { $0[keyPath: value] }, by: group, K.self, predicate)
  }
}

// What the grouped and the ungrouped functions share.
extension ModelContext {
  func sums<T: PersistentModel, V: Numeric, K: Hashable>(
    _ value: AnyKeyPath, _ read: (T) -> V?, by group: AnyKeyPath?, _ key: K.Type,
    _ predicate: Predicate<T>?
  ) throws -> [K: V] {
    let request = AggregateRequest<T, K>(
      graph: graph, function: .sum, value: value, group: group, predicate: predicate)
    return try request.run(
      row: { state, row in
        // The second result counts the values that are not a number.
        let sum =
          row.last == .integer(0)
          ? row.first?.decoded(as: V?.self) : SQLValue.text("NaN").decoded(as: V?.self)
        guard let sum else { throw AggregateArithmetic.overflow }
        state = try AggregateArithmetic.sum(state ?? 0, sum ?? 0)
      },
      object: { state, model in
        state = try AggregateArithmetic.sum(state ?? 0, read(model) ?? 0)
      })
  }

  func averages<T: PersistentModel, V: Numeric, K: Hashable>(
    _ value: AnyKeyPath, _ read: (T) -> V?, by group: AnyKeyPath?, _ key: K.Type,
    _ predicate: Predicate<T>?
  ) throws -> [K: Double] {
    let request = AggregateRequest<T, K>(
      graph: graph, function: .average, value: value, group: group, predicate: predicate)
    let states: [K: (total: Double, count: Int)] = try request.run(
      row: { state, row in
        let values = Array(row)
        guard values.count == 3, let total = values[0].decoded(as: Double.self),
          let count = values[1].decoded(as: Int.self)
        else { throw AggregateRequest<T, K>.mismatch(value) }
        let isNumber = values[2] == .integer(0)
        let old = state ?? (0, 0)
        state = (old.total + (isNumber ? total : .nan), old.count + count)
      },
      object: { state, model in
        let old = state ?? (0, 0)
        guard let number = read(model) else { return state = old }
        state = (old.total + AggregateArithmetic.double(number), old.count + 1)
      })
    return states.compactMapValues { $0.count == 0 ? nil : $0.total / Double($0.count) }
  }

  func extremes<T: PersistentModel, V: Comparable, K: Hashable>(
    _ function: AggregateFunction, _ value: AnyKeyPath, _ read: (T) -> V?, by group: AnyKeyPath?,
    _ key: K.Type, _ predicate: Predicate<T>?
  ) throws -> [K: V] {
    let request = AggregateRequest<T, K>(
      graph: graph, function: function, value: value, group: group, predicate: predicate)
    func merge(_ state: inout V??, _ new: V?) {
      guard let new, AggregateArithmetic.isNumber(new) else { return state = state ?? .some(nil) }
      guard let old = state ?? nil else { return state = .some(new) }
      state = .some((function == .minimum ? new < old : new > old) ? new : old)
    }
    let states: [K: V?] = try request.run(
      row: { state, row in
        guard let read = row.first?.decoded(as: V?.self) else {
          throw AggregateRequest<T, K>.mismatch(value)
        }
        merge(&state, read)
      },
      object: { state, model in merge(&state, read(model)) })
    return states.compactMapValues { $0 }
  }
}
