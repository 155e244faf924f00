// What `#Unique` and `#Index` take. Of a list of key paths that is an argument itself, the compiler
// says which one names no property; of an array of them, only that the array has the wrong type.

/// Properties that `#Unique` names together: `[\.firstName, \.lastName]`.
public struct _PropertySet<Model: PersistentModel>: ExpressibleByArrayLiteral {
  /// Only for the compiler to check: `@Model` reads the source.
  public init(arrayLiteral keyPaths: PartialKeyPath<Model>...) {}
}

extension Schema.Index.Types: ExpressibleByArrayLiteral {
  /// An ordered index over the listed properties.
  public init(arrayLiteral keyPaths: PartialKeyPath<P>...) { self = .binary(keyPaths) }
}
