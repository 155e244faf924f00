/// What has the place of an element.
enum PlaceHolder: Equatable {
  /// Something in the destination, by its place there.
  case stored(String)
  /// Another element of the batch, by its index.
  case element(Int)
}
