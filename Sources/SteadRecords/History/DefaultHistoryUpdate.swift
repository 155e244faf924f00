/// An object of a store of this package whose properties were changed.
public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate {
  public let changeIdentifier: Int64
  public let changedPersistentIdentifier: PersistentIdentifier
  public let transactionIdentifier: Int64
  /// The properties that were changed, in order of declaration, without those that the model no longer has.
  public let updatedAttributes: [any PartialKeyPath<Model> & Sendable]
  /// The changed properties' old values; nil unless the store keeps old values.
  ///
  /// Attributes, and to-one relationships as identifiers. Nil values are left out, and so are values of external
  /// storage and of transformers. A destination's identifier names the class that the property declares.
  public let oldValues: HistoryTombstone<Model>?
  /// When the object was first changed in its context since the save before.
  let stamp: Int64
}

extension DefaultHistoryUpdate {
  /// The old value of a changed property; nil if it was nil, was not changed, or no old values are kept.
  public func oldValue(of keyPath: PartialKeyPath<Model>) -> (any Sendable)? { oldValues?[keyPath] }
}
