/// A value with the stamp of its edit.
package struct Field: Hashable, Sendable {
  package var value: SyncValue
  package var stamp: Stamp

  package init(_ value: SyncValue, _ stamp: Stamp) {
    self.value = value
    self.stamp = stamp
  }
}
