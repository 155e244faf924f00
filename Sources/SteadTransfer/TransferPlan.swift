import Foundation
import SteadEncoding

/// Decides which items are moved and what happens to the others, from the receipt and the items'
/// identities alone.
///
/// A pure value: it reads and writes nothing, so its tests are tables. Items are a multiset: two
/// equal items in the source and one in the receipt are one that was moved and one that is new.
/// Items are classified one by one, in the source's order.
struct TransferPlan {
  /// What the receipt says about an item of the source.
  enum Classification: Sendable, Equatable {
    /// No run has written it.
    case new
    /// An unfinished run has written it: the index of its entry.
    case unfinished(Int)
    /// A finished run has moved it: the index of its entry.
    case moved(Int)
  }

  /// The step after the conversion.
  enum Step: Sendable, Equatable {
    /// Some items don't convert, and a partial move isn't accepted.
    case refuse
    /// The items that convert are written.
    case write
    /// No item is left to write.
    case nothing
  }

  /// The destination's receipt.
  private let receipt: TransferReceipt
  /// The identities of the receipt's entries that no item has claimed yet, pending ones first.
  private var known: IdentityMultiset
  /// How many items of each kind were classified so far.
  private(set) var newCount = 0
  private(set) var unfinishedCount = 0
  private(set) var movedCount = 0

  /// Makes a plan.
  ///
  /// - Parameters:
  ///   - receipt: The destination's receipt.
  ///   - identities: Returns the identities of a chunk of entries, from an index on.
  init(_ receipt: TransferReceipt, _ identities: (_ first: Int) throws -> [String]) rethrows {
    self.receipt = receipt
    // Pending entries come first, so that of two equal items, one moved earlier and one pending,
    // the first is taken for the pending one: its removal is still owed.
    known = try IdentityMultiset(receipt.count) { index in
      let first = receipt.entry(at: index)
      let chunk = try identities(first)
      // Clamped to entries of one kind, since this order jumps from the last pending entry to the
      // first moved one.
      let end = receipt.pending.contains(first) ? receipt.count : receipt.movedCount
      return Array(chunk.prefix(end - first))
    }
  }

  /// Classifies the next item of the source, and claims its entry.
  mutating func classify(_ identity: String) -> Classification {
    guard let index = known.remove(identity) else {
      newCount += 1
      return .new
    }
    let entry = receipt.entry(at: index)
    if receipt.pending.contains(entry) {
      unfinishedCount += 1
      return .unfinished(entry)
    }
    movedCount += 1
    return .moved(entry)
  }

  /// The next step, from the number of new items that don't convert.
  func afterConversion(failed: Int, _ options: TransferOptions) -> Step {
    guard failed == 0 || options.acceptsPartial else { return .refuse }
    return failed == newCount ? .nothing : .write
  }

  /// The entries whose items the source has to remove: those that read back as they were written.
  ///
  /// - Parameter unverified: Placements that don't have what was written there.
  static func removal(
    of entries: [TransferReceipt.Entry], unverified: [TransferPlacement],
    _ options: TransferOptions, isRemovable: Bool
  ) -> [TransferReceipt.Entry] {
    guard isRemovable, !options.keepsSource else { return [] }
    let lost = Set(unverified)
    return entries.filter { !lost.contains($0.placement) }
  }

  /// Whether all items that an interrupted run has written are still in the source.
  ///
  /// That run may have removed them before it was interrupted, and a removal is atomic: it removes
  /// all items or none. So if one is missing, either the removal was done and the others are equal
  /// items that were added later, or somebody removed that one. In both cases the others stay and
  /// count as moved earlier, since removing them could lose new items.
  ///
  /// - Parameter forEachIdentity: Calls its body with the identities of all items in the source.
  static func areAllPresent(
    _ entries: [TransferReceipt.Entry],
    leftIn forEachIdentity: (_ body: (String) -> Void) throws -> Void
  ) rethrows -> Bool {
    var known = IdentityMultiset(entries)
    try forEachIdentity { _ = known.remove($0) }
    return known.removedCount == entries.count
  }
}

extension TransferReceipt {
  /// The index of an entry, from its index in an order in which the pending entries come first.
  fileprivate func entry(at index: Int) -> Int {
    index < pendingCount ? movedCount + index : index - pendingCount
  }
}

// MARK: - Identities

/// A multiset of identities that are removed one by one.
///
/// Takes 21 bytes for each identity (a 16-byte token, a 4-byte index, a flag), and allocates
/// nothing while it is searched, since there may be millions. A dictionary of strings would take
/// ten times that.
struct IdentityMultiset {
  /// 128 bits that stand for an identity: the digest at its end if it is one, else the beginning of
  /// its SHA-256.
  private struct Token: Comparable {
    let high: UInt64
    let low: UInt64

    init(_ identity: String) {
      let text = Array(identity.utf8)
      // An identity that is a digest needs no other one: its bits are spread evenly.
      let bytes = HexadecimalDigest(text)?.bytes ?? SHA256.digest(of: text)
      func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
      }
      let half = ItemDigest.byteCount / 2
      high = number(bytes[..<half])
      low = number(bytes[half..<ItemDigest.byteCount])
    }

    static func < (one: Token, other: Token) -> Bool {
      (one.high, one.low) < (other.high, other.low)
    }
  }

  /// The tokens, by the index of their identities.
  private var tokens: [Token] = []
  /// The indices of the tokens, sorted by token; equal ones by index. So a look-up is a binary
  /// search, and equal identities are removed in their order.
  private var order: [UInt32] = []
  /// Whether the identity at an index of `order` was removed.
  private var isRemoved: [Bool] = []
  /// How many identities were removed.
  private(set) var removedCount = 0

  /// Makes a multiset.
  ///
  /// - Parameters:
  ///   - count: The number of identities.
  ///   - chunk: Returns some identities, from an index on, so that not all are in memory as
  ///     strings.
  init(_ count: Int, _ chunk: (_ first: Int) throws -> [String]) rethrows {
    tokens.reserveCapacity(count)
    while tokens.count < count {
      let identities = try chunk(tokens.count)
      if identities.isEmpty { break }
      tokens += identities.lazy.map { Token($0) }
    }
    // 32 bits are enough for four billion identities, and halve the table.
    order = Array(0..<UInt32(tokens.count))
    // By index where the tokens are equal, so that equal identities are removed in their order.
    order.sort { one, other in
      (tokens[Int(one)], one) < (tokens[Int(other)], other)
    }
    isRemoved = Array(repeating: false, count: tokens.count)
  }

  /// Makes a multiset of the identities of entries.
  init(_ entries: [TransferReceipt.Entry]) {
    self.init(entries.count) { entries[$0...].map(\.identity) }
  }

  /// Removes one occurrence of an identity, and returns its index; nil if none is left.
  mutating func remove(_ identity: String) -> Int? {
    if tokens.isEmpty { return nil }
    let token = Token(identity)
    // Of equal ones, those that are taken are the first.
    var (low, high) = (0, order.count)
    while low < high {
      let middle = (low + high) / 2
      let found = tokens[Int(order[middle])]
      // Of equal tokens the removed ones always come first, so the search finds the first that is
      // left.
      if found < token || found == token && isRemoved[middle] {
        low = middle + 1
      } else {
        high = middle
      }
    }
    guard low < order.count, tokens[Int(order[low])] == token else { return nil }
    isRemoved[low] = true
    removedCount += 1
    return Int(order[low])
  }
}
