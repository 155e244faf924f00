/// The destinations of a to-many relationship.
public struct _Targets {
  /// All of them, when they were loaded or assigned.
  @usableFromInline var loaded: [AnyObject]?
  /// What the next save writes of them.
  @usableFromInline var delta: ToManyDelta?

  @inlinable init(loaded: [AnyObject]? = nil, delta: ToManyDelta? = nil) {
    self.loaded = loaded
    self.delta = delta
  }
}
