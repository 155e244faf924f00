/// A source that may lie in the very place that things are moved to.
///
/// What is written there would be taken for what is to be removed.
protocol OverlapChecking {
  /// Whether removing from the source could take away what is put at these places.
  func overlaps(_ placements: [TransferPlacement], of destination: any TransferDestination) -> Bool
}
