/// One thing that a source holds, by itself.
struct TransferItem<Value> {
  /// Where in the source it is, for reports: an index, a key, a line. It never contains the item's value.
  var name: String
  /// What tells the item from others in the same source: made of all that the source holds of it, and
  /// the same each time it is read. Two equal items may share one.
  var identity: String
  /// What was read, or why it could not be.
  var value: Result<Value, any Error>
  /// How many bytes it takes in the source, where many are read one after the other.
  var size = 0

  /// Why the item was not moved: what came of its reading or conversion.
  func failure(_ error: any Error) -> TransferFailure {
    TransferFailure(item: name, becauseOf: error)
  }
}
