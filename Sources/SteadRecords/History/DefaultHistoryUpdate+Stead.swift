extension DefaultHistoryUpdate {
  /// What a changed property was before; nil where it was nil, was not changed, or no old values are kept.
  public func oldValue(of keyPath: PartialKeyPath<Model>) -> (any Sendable)? { oldValues?[keyPath] }
}
