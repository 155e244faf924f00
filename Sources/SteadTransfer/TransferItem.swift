/// One item of a source.
struct TransferItem<Value> {
  /// The item's place in the source, for reports: an index, a key, a line. It never contains the item's value.
  var name: String
  /// The item's identity in the source. It depends on all of the item's contents, and is the same each time the item
  /// is read. Equal items may share one.
  var identity: String
  /// The item's value, or why it could not be read.
  var value: Result<Value, any Error>
  /// The item's size in the source, in bytes, if items are read one after another.
  var size = 0

  /// Why the item was not moved: an error of its reading or conversion.
  func failure(_ error: any Error) -> TransferFailure {
    TransferFailure(item: name, becauseOf: error)
  }
}
