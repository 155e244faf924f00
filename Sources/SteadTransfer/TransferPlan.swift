/// Which items are to be moved, and what becomes of the others: decided from what the destination knows
/// and what the source holds, and from nothing else.
///
/// Items are told apart by identity alone, and counted: two equal items in the source and one in the
/// receipt are one that was moved and one that is new.
struct TransferPlan: Sendable, Equatable {
  /// An item of the source that the destination has.
  struct Match: Sendable, Equatable {
    /// The item's position in what was read.
    var item: Int
    var entry: TransferReceipt.Entry
  }

  /// What comes after the conversion.
  enum Step: Sendable, Equatable {
    /// Some do not convert, and that is not accepted.
    case refuse
    /// These items are written.
    case write([Int])
    case nothing
  }

  /// Positions of items that no run has written.
  private(set) var new: [Int] = []
  /// Items that a run has written that did not come to its end.
  private(set) var unfinished: [Match] = []
  /// Items that earlier runs have moved.
  private(set) var moved: [Match] = []

  /// - Parameter identities: Of all items that the source holds, in its order.
  init(receipt: TransferReceipt?, identities: [String]) {
    var pending = EntryCounts(receipt?.pending ?? [])
    var known = EntryCounts(receipt?.moved ?? [])
    for (item, identity) in identities.enumerated() {
      // What is pending is what a removal takes.
      if let entry = pending.take(identity) {
        unfinished.append(Match(item: item, entry: entry))
      } else if let entry = known.take(identity) {
        moved.append(Match(item: item, entry: entry))
      } else {
        new.append(item)
      }
    }
  }

  /// Whether a run was cut off after it had written, so that its work has to be brought to an end first.
  static func isUnfinished(_ receipt: TransferReceipt?) -> Bool { receipt?.state == .written }

  /// What comes next, once it is known which of the new items do not convert.
  func afterConversion(failed: Set<Int>, _ options: TransferOptions) -> Step {
    guard failed.isEmpty || options.acceptsPartial else { return .refuse }
    let converted = new.filter { !failed.contains($0) }
    return converted.isEmpty ? .nothing : .write(converted)
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

  /// What the source has to give up after a run that was cut off, which may have done that already.
  ///
  /// A removal takes all or nothing. So when one of the entries is not in the source any more, the others
  /// were added since, or somebody has taken that one out: they are left alone, as moved earlier, since
  /// to remove them could lose what is new and equal.
  ///
  /// - Parameter identities: Of all items that the source holds.
  static func removal(
    of entries: [TransferReceipt.Entry], leftIn identities: [String]
  ) -> [TransferReceipt.Entry] {
    var counts: [String: Int] = [:]
    for identity in identities { counts[identity, default: 0] += 1 }
    for entry in entries { counts[entry.identity, default: 0] -= 1 }
    return counts.values.allSatisfy { $0 >= 0 } ? entries : []
  }
}

/// Entries by identity, to be taken out one by one, the first first.
private struct EntryCounts {
  private var entries: [String: ArraySlice<TransferReceipt.Entry>]

  init(_ entries: [TransferReceipt.Entry]) {
    self.entries = Dictionary(grouping: entries, by: \.identity).mapValues { $0[...] }
  }

  mutating func take(_ identity: String) -> TransferReceipt.Entry? {
    entries[identity]?.popFirst()
  }
}
