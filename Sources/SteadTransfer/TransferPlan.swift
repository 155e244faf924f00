/// Decides which items are moved and what happens to the others, from the destination's receipt and the source's
/// items alone.
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

  /// The state of the source's next item.
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

  /// The next step, given the number of new items that don't convert.
  func afterConversion(failed: Int, _ options: TransferOptions) -> Step {
    guard failed == 0 || options.acceptsPartial else { return .refuse }
    return failed == newCount ? .nothing : .write
  }

  /// The items that the destination has and the source must remove.
  ///
  /// - Parameter unverified: Places that don't have what was written there.
  static func removal(
    of entries: [TransferReceipt.Entry], unverified: [TransferPlacement],
    _ options: TransferOptions, isRemovable: Bool
  ) -> [TransferReceipt.Entry] {
    guard isRemovable, !options.keepsSource else { return [] }
    let lost = Set(unverified)
    return entries.filter { !lost.contains($0.placement) }
  }

  /// Whether the source may remove the items that an interrupted run has written. That run may already have removed
  /// them.
  ///
  /// A removal takes all items or none. So if one of the entries is no longer in the source, either the others were
  /// added later or someone removed that one. The others stay and count as moved earlier: removing them could lose
  /// new, equal items.
  ///
  /// - Parameter forEachIdentity: Calls its body with the identities of all items of the source.
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
