/// A value with the stamp of its edit.
public struct Field: Hashable, Sendable {
  public var value: SyncValue
  public var stamp: Stamp

  public init(_ value: SyncValue, _ stamp: Stamp) {
    self.value = value
    self.stamp = stamp
  }
}
