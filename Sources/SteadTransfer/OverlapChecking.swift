/// A source that may lie in the very place that things are moved to.
///
/// What is written there would be taken for what is to be removed.
protocol OverlapChecking {
  /// Whether removing from the source could take away what is put at these places.
  func overlaps(_ placements: [TransferPlacement], of destination: any TransferDestination) -> Bool
}

extension PreferenceSource: OverlapChecking {
  func overlaps(_ placements: [TransferPlacement], of destination: any TransferDestination) -> Bool
  {
    guard let other = destination as? PreferencesDestination,
      preferences.isSameDomain(as: other.preferences)
    else { return false }
    return placements.contains { $0.place.utf8.elementsEqual(key.utf8) }
  }
}

extension DomainSource: OverlapChecking {
  func overlaps(_ placements: [TransferPlacement], of destination: any TransferDestination) -> Bool
  {
    guard let other = destination as? PreferencesDestination else { return false }
    return preferences.isSameDomain(as: other.preferences)
  }
}

extension RecordStoreSource: OverlapChecking {
  func overlaps(_ placements: [TransferPlacement], of destination: any TransferDestination) -> Bool
  {
    guard let other = destination as? RecordGraphDestination, let here = try? opened.get(),
      let there = try? other.opened.get()
    else { return false }
    // A copy of a store has its identifier, and is another place.
    return here.rows.identifier == there.rows.identifier
      && container.configurations.map(\.url) == other.container.configurations.map(\.url)
  }
}
