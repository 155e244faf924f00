public import Foundation

// `Bool` isn't Comparable in Swift, so Foundation accepts no Boolean key path.
extension SortDescriptor where Compared: PersistentModel {
  /// Orders by a Boolean property: false before true.
  ///
  /// ```swift
  /// FetchDescriptor<Task>(sortBy: [SortDescriptor(\.isDone), SortDescriptor(\.due)])
  /// ```
  ///
  /// The order has SQL, so that a fetch can use an index of the property.
  public init(_ keyPath: any KeyPath<Compared, Bool> & Sendable, order: SortOrder = .forward) {
    self.init(Self.sendable(keyPath.appending(path: \.steadOrder)), order: order)
  }

  /// Orders by an optional Boolean property: nil, false, true. The order has SQL.
  public init(_ keyPath: any KeyPath<Compared, Bool?> & Sendable, order: SortOrder = .forward) {
    self.init(Self.sendable(keyPath.appending(path: \.steadOrder)), order: order)
  }
}

extension SortDescriptor {
  /// A key path as one that is Sendable. `appending(path:)` loses that, although both parts are.
  static func sendable<Value>(
    _ path: KeyPath<Compared, Value>
  ) -> any KeyPath<Compared, Value> & Sendable {
    // Both parts are Sendable, and Sendable leaves no trace in a type's layout.
    unsafeBitCast(path, to: (any KeyPath<Compared, Value> & Sendable).self)
  }
}

extension Bool {
  /// 0 for false and 1 for true, as the column has it. `Bool` is not Comparable.
  var steadOrder: Int { self ? 1 : 0 }
}

extension Bool? {
  /// The same, and nil for nil.
  var steadOrder: Int? { map { $0 ? 1 : 0 } }
}
