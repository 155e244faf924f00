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
