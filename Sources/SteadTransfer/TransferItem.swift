/// One thing that a source holds, by itself.
struct TransferItem<Value> {
  /// Where in the source it is, for reports: an index, a key, a line. It never tells what is there.
  var name: String
  /// What tells the item from others in the same source: made of all that the source holds of it, and
  /// the same each time it is read. Two equal items may share one.
  var identity: String
  /// What was read, or why it could not be.
  var value: Result<Value, any Error>

  /// An item.
  init(name: String, identity: String, value: Result<Value, any Error>) {
    self.name = name
    self.identity = identity
    self.value = value
  }
}
