/// Items on their way into the destination, as many as are written at once.
struct ItemBatch<Value, Element> {
  /// How much of a source is converted and written at once, if the destination accepts chunks.
  struct Limit: Sendable {
    var count = ReceiptChunk.foldLimit
    /// In bytes of the source.
    var size = 4 << 20

    /// For a destination that takes all at once.
    static var none: Limit { Limit(count: .max, size: .max) }
  }

  private(set) var items: [TransferItem<Value>] = []
  private(set) var elements: [Element] = []
  /// Items that are not written, because their places are taken and those values are kept.
  private(set) var kept: [KeptItem] = []
  private var size = 0

  /// An item that is not written, and the value in its place.
  struct KeptItem {
    let item: TransferItem<Value>
    var element: ElementBatch<Element>.Kept
  }

  var isEmpty: Bool { items.isEmpty && kept.isEmpty }

  mutating func append(_ item: TransferItem<Value>, _ element: Element) {
    items.append(item)
    elements.append(element)
    size += item.size
  }

  func isFull(_ limit: Limit) -> Bool { items.count >= limit.count || size >= limit.size }

  /// Keeps what another batch keeps, and some of its items: this batch has all others of that one.
  ///
  /// - Parameter conflicts: The elements of the other batch that are not written.
  mutating func keep(_ conflicts: [PlaceConflict], of other: Self) {
    let taken = Set(conflicts.map(\.element))
    var index: [Int: Int] = [:]
    for element in other.items.indices where !taken.contains(element) {
      index[element] = index.count
    }
    let holders = Dictionary(conflicts.map { ($0.element, $0.holder) }) { first, _ in first }
    func renewed(_ holder: PlaceHolder) -> PlaceHolder? {
      guard case .element(let element) = holder else { return holder }
      if let place = index[element] { return .element(place) }
      // It is not written either; what has its place is, or is there.
      guard case .some(.some(let other)) = holders[element], other != holder else { return nil }
      if case .element(let element) = other { return index[element].map { .element($0) } }
      return other
    }
    kept = other.kept.compactMap { kept in
      renewed(kept.element.holder).map {
        KeptItem(item: kept.item, element: .init(element: kept.element.element, holder: $0))
      }
    }
    for conflict in conflicts {
      guard let holder = conflict.holder.flatMap(renewed) else { continue }
      let element = ElementBatch<Element>.Kept(
        element: other.elements[conflict.element], holder: holder)
      kept.append(KeptItem(item: other.items[conflict.element], element: element))
    }
  }

  /// A value that is equal for equal items in the same order.
  var fingerprint: String { ItemDigest.text(of: items.lazy.map(\.identity)) }
}
