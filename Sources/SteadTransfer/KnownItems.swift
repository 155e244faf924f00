import Foundation
import SteadFiles

/// Identities that are taken out one by one, equal ones as often as they are there.
///
/// Takes 21 bytes of memory each, and no more while it is searched, since there may be millions.
struct KnownItems {
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
  private var isTaken: [Bool] = []
  /// How many are taken.
  private(set) var takenCount = 0

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
    isTaken = Array(repeating: false, count: tokens.count)
  }

  /// The identities of a receipt's entries.
  init(_ entries: [TransferReceipt.Entry]) {
    self.init(entries.count) { entries[$0...].map(\.identity) }
  }

  /// The place of an item of that identity, the first that is left; nil when none is.
  mutating func take(_ identity: String) -> Int? {
    if tokens.isEmpty { return nil }
    let token = Token(identity)
    // Of equal ones, those that are taken are the first.
    var (low, high) = (0, order.count)
    while low < high {
      let middle = (low + high) / 2
      let found = tokens[Int(order[middle])]
      if found < token || found == token && isTaken[middle] {
        low = middle + 1
      } else {
        high = middle
      }
    }
    guard low < order.count, tokens[Int(order[low])] == token else { return nil }
    isTaken[low] = true
    takenCount += 1
    return Int(order[low])
  }
}
