/// Lets code that holds any value ask whether it is nil.
protocol OptionalValue {
  var isNil: Bool { get }
  /// The value that is not nil.
  var wrapped: Any? { get }
}

extension Optional: OptionalValue {
  var isNil: Bool { self == nil }
  var wrapped: Any? { self }
}

/// Lets code that holds a type as `Any.Type` find out what an optional wraps.
protocol OptionalType {
  static var wrappedType: any Any.Type { get }
}

extension Optional: OptionalType {
  static var wrappedType: any Any.Type { Wrapped.self }
}
