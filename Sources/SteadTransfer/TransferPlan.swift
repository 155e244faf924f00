import Foundation
import SteadFiles

/// Decides which items are moved and what happens to the others, from the destination's receipt and the source's
/// items alone.
///
/// Items are distinguished only by their identities, and counted: two equal items in the source and one in the
/// receipt are one that was moved and one that is new. They come one by one, in the source's order.
struct TransferPlan {
  /// What an item is.
  enum Classification: Sendable, Equatable {
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
  private var known: IdentityMultiset
  private(set) var newCount = 0
  private(set) var unfinishedCount = 0
  private(set) var movedCount = 0

  /// - Parameter identities: Some of the receipt's entries' identities, from one of the entries on.
  init(_ receipt: TransferReceipt, _ identities: (_ first: Int) throws -> [String]) rethrows {
    self.receipt = receipt
    // What is pending comes first, since it is what a removal takes.
    known = try IdentityMultiset(receipt.count) { index in
      let first = receipt.entry(at: index)
      let chunk = try identities(first)
      let end = receipt.pending.contains(first) ? receipt.count : receipt.movedCount
      return Array(chunk.prefix(end - first))
    }
  }

  /// The state of the source's next item.
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
  /// The entry at a place of an order in which what is pending comes first.
  fileprivate func entry(at index: Int) -> Int {
    index < pendingCount ? movedCount + index : index - pendingCount
  }
}

// MARK: - Identities

/// Identities that are taken out one by one, equal ones as often as they are there.
///
/// Takes 21 bytes of memory each, and no more while it is searched, since there may be millions.
struct IdentityMultiset {
  /// What stands for an identity: the digest that it is, or a digest of it.
  private struct Token: Comparable {
    let high: UInt64
    let low: UInt64

    init(_ identity: String) {
      let text = Array(identity.utf8)
      let bytes =
        HexadecimalDigest(text)?.bytes ?? Array(SHA256.digest(of: Data(text)))
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

  private var tokens: [Token] = []
  /// The tokens' places, by the tokens, those of equal ones as they came.
  private var order: [UInt32] = []
  /// Whether the item at a place of `order` is taken.
  private var isRemoved: [Bool] = []
  /// How many are taken.
  private(set) var removedCount = 0

  /// Identities in chunks, so that not all are in memory as strings.
  init(_ count: Int, _ chunk: (_ first: Int) throws -> [String]) rethrows {
    tokens.reserveCapacity(count)
    while tokens.count < count {
      let identities = try chunk(tokens.count)
      if identities.isEmpty { break }
      tokens += identities.lazy.map { Token($0) }
    }
    order = Array(0..<UInt32(tokens.count))
    order.sort { one, other in
      (tokens[Int(one)], one) < (tokens[Int(other)], other)
    }
    isRemoved = Array(repeating: false, count: tokens.count)
  }

  /// The identities of a receipt's entries.
  init(_ entries: [TransferReceipt.Entry]) {
    self.init(entries.count) { entries[$0...].map(\.identity) }
  }

  /// The place of an item of that identity, the first that is left; nil when none is.
  mutating func remove(_ identity: String) -> Int? {
    if tokens.isEmpty { return nil }
    let token = Token(identity)
    // Of equal ones, those that are taken are the first.
    var (low, high) = (0, order.count)
    while low < high {
      let middle = (low + high) / 2
      let found = tokens[Int(order[middle])]
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
