public import SteadPreferences

extension TransferSource where Value == PreferenceEntry {
  /// A whole domain of preferences: an item for each key, with its value.
  ///
  /// Only the domain that the preferences write is looked at. Receipts of transfers are left where they are.
  public static func preferences(_ preferences: Preferences) -> Self {
    Self(DomainSource(preferences))
  }
}

/// A whole domain of preferences as a source: an item for each key, with its value.
struct DomainSource: ItemSource {
  /// How often a removal is tried while other processes write the same keys.
  static let attemptLimit = 100

  let preferences: Preferences

  /// The domain that preferences write.
  init(_ preferences: Preferences) { self.preferences = preferences }

  /// The domain's name.
  var name: String { "preferences of \(preferences.domain)" }
  /// Whether the domain can be written.
  var isRemovable: Bool { !preferences.isReadOnly }

  /// The keys with their values, in the order of the keys' bytes.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<PreferenceEntry> {
    ItemReading(try items(progress))
  }

  private func items(_ progress: TransferProgress.Report) throws -> [TransferItem<PreferenceEntry>]
  {
    let entries = try entries()
    return try entries.enumerated().map { index, entry in
      try progress(.init(phase: .reading, completed: index, total: entries.count))
      return TransferItem(
        name: "key \(entry.key)", identity: try entry.digest(), value: .success(entry))
    }
  }

  /// Removes those keys that still have the values that were moved, as one change.
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    for _ in 0..<Self.attemptLimit {
      var known = KnownItems(entries)
      let gone = try self.entries().filter { try known.take($0.digest()) != nil }
      guard !gone.isEmpty else { return 0 }
      let isDone = try preferences.apply(
        gone.map { DomainEdit(key: $0.key, value: nil) },
        ifStill: gone.map { DomainEdit(key: $0.key, value: $0.value) })
      guard isDone else { continue }
      // What was moved may be a secret: the log would keep it for some hundred writes more.
      try preferences.flushWithoutTraces()
      return gone.count
    }
    throw TransferError(
      code: .changed,
      message:
        "Other programs wrote to \(name) on each of \(Self.attemptLimit) attempts. Run again.")
  }

  private func entries() throws -> [PreferenceEntry] {
    try preferences.ownContents()
      .filter { !$0.key.utf8.starts(with: PreferencesDestination.receiptPrefix.utf8) }
      .map { PreferenceEntry(key: $0.key, value: $0.value) }
  }

  func overlaps(_ placements: [TransferPlacement], of destination: any ItemDestination) -> Bool {
    guard let other = destination as? PreferencesDestination else { return false }
    return preferences.isSameDomain(as: other.preferences)
  }
}
