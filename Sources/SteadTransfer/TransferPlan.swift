/// Which items are to be moved, and what becomes of the others: decided from what the destination knows
/// and what the source holds, and from nothing else.
///
/// Items are distinguished only by their identities, and counted: two equal items in the source and one in the
/// receipt are one that was moved and one that is new. They come one by one, in the source's order.
struct TransferPlan {
  /// What an item is.
  enum Verdict: Sendable, Equatable {
    /// No run has written it.
    case new
    /// A run has written it that did not come to its end. The entry's place among all of the receipt.
    case unfinished(Int)
    /// An earlier run has moved it.
    case moved(Int)
  }

  /// What comes after the conversion.
  enum Step: Sendable, Equatable {
    /// Some do not convert, and that is not accepted.
    case refuse
    /// What converts is written.
    case write
    case nothing
  }

  private let receipt: TransferReceipt
  private var known: KnownItems
  private(set) var newCount = 0
  private(set) var unfinishedCount = 0
  private(set) var movedCount = 0

  /// - Parameter identities: Some of the receipt's entries' identities, from one of the entries on.
  init(_ receipt: TransferReceipt, _ identities: (_ first: Int) throws -> [String]) rethrows {
    self.receipt = receipt
    // What is pending comes first, since it is what a removal takes.
    known = try KnownItems(receipt.count) { place in
      let first = receipt.entry(at: place)
      let chunk = try identities(first)
      let end = receipt.pending.contains(first) ? receipt.count : receipt.movedCount
      return Array(chunk.prefix(end - first))
    }
  }

  /// What the next item of the source is.
  mutating func verdict(_ identity: String) -> Verdict {
    guard let place = known.take(identity) else {
      newCount += 1
      return .new
    }
    let entry = receipt.entry(at: place)
    if receipt.pending.contains(entry) {
      unfinishedCount += 1
      return .unfinished(entry)
    }
    movedCount += 1
    return .moved(entry)
  }

  /// What comes next, once it is known how many of the new items do not convert.
  func afterConversion(failed: Int, _ options: TransferOptions) -> Step {
    guard failed == 0 || options.acceptsPartial else { return .refuse }
    return failed == newCount ? .nothing : .write
  }

  /// What the source has to give up of what the destination has.
  ///
  /// - Parameter unverified: Places that do not hold what was written there.
  static func removal(
    of entries: [TransferReceipt.Entry], unverified: [TransferPlacement],
    _ options: TransferOptions, isRemovable: Bool
  ) -> [TransferReceipt.Entry] {
    guard isRemovable, !options.keepsSource else { return [] }
    let lost = Set(unverified)
    return entries.filter { !lost.contains($0.placement) }
  }

  /// Whether the source may give up what a run that was cut off has written, which may have done that already.
  ///
  /// A removal takes all or nothing. So when one of the entries is not in the source any more, the others
  /// were added since, or somebody has taken that one out: they are left alone, as moved earlier, since
  /// to remove them could lose what is new and equal.
  ///
  /// - Parameter forEachIdentity: Calls its body with the identities of all items that the source holds.
  static func isWhole(
    _ entries: [TransferReceipt.Entry],
    leftIn forEachIdentity: (_ body: (String) -> Void) throws -> Void
  ) rethrows -> Bool {
    var known = KnownItems(entries)
    try forEachIdentity { _ = known.take($0) }
    return known.takenCount == entries.count
  }
}

extension TransferReceipt {
  /// The entry at a place of an order in which what is pending comes first.
  fileprivate func entry(at place: Int) -> Int {
    place < pendingCount ? movedCount + place : place - pendingCount
  }
}
