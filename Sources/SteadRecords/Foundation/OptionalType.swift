/// Lets code that holds a type as `Any.Type` find out what an optional wraps.
protocol OptionalType {
  static var wrappedType: any Any.Type { get }
}

extension Optional: OptionalType {
  static var wrappedType: any Any.Type { Wrapped.self }
}
