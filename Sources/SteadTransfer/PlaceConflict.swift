/// An element whose place in the destination is taken.
struct PlaceConflict {
  var element: Int
  /// What has the place; nil where it cannot be kept instead of the element.
  var holder: PlaceHolder?
  var failure: TransferFailure
}
