/// How many items of each identity are still to be taken out of a source.
struct IdentityCounts {
  private var counts: [String: Int] = [:]

  init(_ entries: [TransferReceipt.Entry]) {
    for entry in entries { counts[entry.identity, default: 0] += 1 }
  }

  /// Whether an item of this identity is to be taken out, which is then done for one more.
  mutating func take(_ identity: String) -> Bool {
    guard let count = counts[identity], count > 0 else { return false }
    counts[identity] = count - 1
    return true
  }
}
