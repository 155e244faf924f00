extension Schema {
  /// Sets of properties whose combined values must be unique; `#Unique` declares them.
  ///
  /// ```swift
  /// @Model final class Person {
  ///   #Unique<Person>([\.email], [\.firstName, \.lastName])
  ///   …
  /// }
  /// ```
  ///
  /// Saving a new object with a taken combination updates the row that has it, an upsert. nil
  /// equals no other nil.
  public final class Unique<T: PersistentModel>: SchemaProperty {
    /// The sets of properties.
    public let constraints: [[PartialKeyPath<T>]]
    /// Empty: a constraint has no name in the store.
    public var originalName = ""
    /// The model.
    public var valueType: any Any.Type = T.self

    /// Creates constraints, each of which is a separate key. A to-many relationship cannot be part of one: the
    /// container then throws ``SwiftDataError/loadIssueModelContainer``.
    public init(_ constraints: [PartialKeyPath<T>]...) {
      self.constraints = constraints
    }

    /// Always `unique`: the constraints have no name of their own.
    public var name: String { "unique" }
    public var isAttribute: Bool { false }
    public var isRelationship: Bool { false }
    public var isTransient: Bool { false }
    public var isOptional: Bool { false }
    public var isUnique: Bool { true }

    /// Whether both have the same sets in the same order.
    public static func == (left: Unique, right: Unique) -> Bool {
      left.constraints == right.constraints
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(constraints) }

    /// Always throws: key paths cannot be decoded; an encoded schema keeps the property names.
    public init(from decoder: any Decoder) throws { throw ConstraintCodingError() }
    /// Always throws: key paths cannot be encoded; an encoded schema keeps the property names.
    public func encode(to encoder: any Encoder) throws { throw ConstraintCodingError() }
  }

  /// Sets of properties that are indexed together; `#Index` declares them.
  ///
  /// ```swift
  /// @Model final class Trip {
  ///   #Index<Trip>([\.startDate], [\.country, \.startDate])
  ///   …
  /// }
  /// ```
  ///
  /// An index makes fetches faster that compare or sort by its first properties. Each inserted
  /// object is written to all of its indexes.
  public final class Index<T: PersistentModel>: SchemaProperty {
    /// The kind of an index and its properties.
    public enum Types<P: PersistentModel> {
      /// An ordered index, for equality, ranges and sorting; of strings for equality and prefixes alone, since their
      /// order needs a collation.
      case binary([PartialKeyPath<P>])
      /// A spatial index over number pairs; kept as an ordered index, which finds the same rows.
      case rtree([PartialKeyPath<P>])
    }

    /// The indexes.
    public let indices: [Types<T>]
    /// Empty: the library names indexes itself.
    public var originalName = ""
    /// The model.
    public var valueType: any Any.Type = T.self

    /// Creates ordered indexes.
    public init(_ indices: [PartialKeyPath<T>]...) {
      self.indices = indices.map { .binary($0) }
    }

    /// Creates indexes of the given kinds.
    public init(_ indices: Types<T>...) {
      self.indices = indices
    }

    var keyPaths: [[PartialKeyPath<T>]] {
      indices.map {
        switch $0 {
        case .binary(let paths), .rtree(let paths): paths
        }
      }
    }

    /// Always `index`: the indexes have no name of their own.
    public var name: String { "index" }
    public var isAttribute: Bool { false }
    public var isRelationship: Bool { false }
    public var isTransient: Bool { false }
    public var isOptional: Bool { false }
    public var isUnique: Bool { false }

    /// Whether both index the same sets in the same order. The kinds of the indexes are not
    /// compared.
    public static func == (left: Index, right: Index) -> Bool { left.keyPaths == right.keyPaths }

    public func hash(into hasher: inout Hasher) { hasher.combine(keyPaths) }

    /// Always throws: key paths cannot be decoded; an encoded schema keeps the property names.
    public init(from decoder: any Decoder) throws { throw ConstraintCodingError() }
    /// Always throws: key paths cannot be encoded; an encoded schema keeps the property names.
    public func encode(to encoder: any Encoder) throws { throw ConstraintCodingError() }
  }
}

private struct ConstraintCodingError: Error, CustomStringConvertible {
  var description: String {
    "Constraints hold key paths, which cannot be encoded; encode the Schema.Entity instead."
  }
}

/// Lets the schema builder read constraints without knowing their model.
protocol ConstraintProperty {
  /// The sets of a `#Unique`; empty for an `#Index`.
  var uniqueKeyPaths: [[AnyKeyPath]] { get }
  /// The sets of an `#Index`; empty for a `#Unique`.
  var indexKeyPaths: [[AnyKeyPath]] { get }
}

extension Schema.Unique: ConstraintProperty {
  var uniqueKeyPaths: [[AnyKeyPath]] { constraints }
  var indexKeyPaths: [[AnyKeyPath]] { [] }
}

extension Schema.Index: ConstraintProperty {
  var uniqueKeyPaths: [[AnyKeyPath]] { [] }
  var indexKeyPaths: [[AnyKeyPath]] { keyPaths }
}
