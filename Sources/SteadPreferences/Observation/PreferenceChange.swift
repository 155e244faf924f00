/// The change of one key: its effective value before and now.
///
/// Values are those that a look-up over the whole search list returns. So the new value of a key that was
/// removed is the one beneath it, such as its registered default.
public struct PreferenceChange<Value: Sendable>: Sendable {
  /// The key.
  public let key: String
  /// The effective value before.
  public let old: Value
  /// The effective value from now on.
  public let new: Value
  /// Whether this process made the change; false if another one did, or somebody edited the file.
  public let isOwn: Bool

  /// Makes a change.
  public init(key: String, old: Value, new: Value, isOwn: Bool) {
    self.key = key
    self.old = old
    self.new = new
    self.isOwn = isOwn
  }

  /// The same change with other values, such as decoded ones.
  public func map<Other: Sendable, Failure: Error>(
    _ transform: (Value) throws(Failure) -> Other
  ) throws(Failure) -> PreferenceChange<Other> {
    PreferenceChange<Other>(
      key: key, old: try transform(old), new: try transform(new), isOwn: isOwn)
  }
}

extension PreferenceChange: Equatable where Value: Equatable {}
extension PreferenceChange: Hashable where Value: Hashable {}
