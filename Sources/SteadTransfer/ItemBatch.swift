/// Items on their way into the destination, as many as are written at once.
struct ItemBatch<Value, Element> {
  /// How much of a source is converted and written at once where the destination takes chunks.
  struct Limit: Sendable {
    var count = ReceiptChunk.foldLimit
    /// In bytes of the source.
    var size = 4 << 20

    /// For a destination that takes all at once.
    static var none: Limit { Limit(count: .max, size: .max) }
  }

  private(set) var items: [TransferItem<Value>] = []
  private(set) var elements: [Element] = []
  private var size = 0

  mutating func append(_ item: TransferItem<Value>, _ element: Element) {
    items.append(item)
    elements.append(element)
    size += item.size
  }

  func isFull(_ limit: Limit) -> Bool { items.count >= limit.count || size >= limit.size }

  /// What is the same for the same items in the same order.
  var fingerprint: String { ItemDigest.text(of: items.lazy.map(\.identity)) }
}
