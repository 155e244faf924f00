/// What the history preserves of a deleted object: the values of its `.preserveValueOnDeletion` attributes.
///
/// ```swift
/// if let deletion = deletion as? DefaultHistoryDelete<Trip>, let name = deletion.tombstone[\.name] as? String {
///   print("\(name) was deleted")
/// }
/// ```
public struct HistoryTombstone<Model: PersistentModel>: Sequence, Sendable {
  // Sendable: key paths of models hold no captured values, and the values are Sendable.
  private let values: [(keyPath: any PartialKeyPath<Model> & Sendable, value: any Sendable)]

  init(_ values: [(keyPath: any PartialKeyPath<Model> & Sendable, value: any Sendable)]) {
    self.values = values
  }

  /// These values and others.
  func joined(with other: Self) -> Self { Self(values + other.values) }

  /// The value that an attribute had; nil if it was nil, or was not preserved.
  public subscript(_ keyPath: PartialKeyPath<Model>) -> (any Sendable)? {
    values.first { ($0.keyPath as PartialKeyPath<Model>) == keyPath }?.value
  }

  /// The preserved values, in order of the attributes' declaration, without nil ones.
  public func makeIterator() -> AnyIterator<Any> {
    var rest = values[...]
    return AnyIterator { rest.popFirst()?.value }
  }
}
