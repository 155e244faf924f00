/// Items and their elements, as many as are written at once.
struct ItemBatch<Value, Element> {
  /// The maximum size of a batch.
  struct Limit: Sendable {
    /// The number of items.
    var count = ReceiptChunk.foldLimit
    /// The size of the items in the source, in bytes.
    var size = 4 << 20

    /// The limit for a destination that takes everything at once.
    static var none: Limit { Limit(count: .max, size: .max) }
  }

  /// The items that are written.
  private(set) var items: [TransferItem<Value>] = []
  /// The elements of the items, at the same indices.
  private(set) var elements: [Element] = []
  /// The items that are not written because the existing values stay.
  private(set) var kept: [KeptItem] = []
  /// The size of the items in the source, in bytes.
  private var size = 0

  /// An item that is not written, and what has its place.
  struct KeptItem {
    /// The item.
    let item: TransferItem<Value>
    /// Its element, and what has the place.
    var element: ElementBatch<Element>.Kept
  }

  /// Whether no item is written or kept.
  var isEmpty: Bool { items.isEmpty && kept.isEmpty }

  /// Adds an item that is written.
  mutating func append(_ item: TransferItem<Value>, _ element: Element) {
    items.append(item)
    elements.append(element)
    size += item.size
  }

  /// Whether a batch is at its limit.
  func isFull(_ limit: Limit) -> Bool { items.count >= limit.count || size >= limit.size }

  /// Takes over what another batch keeps, and adds its conflicting items to that. The elements that
  /// are written must already be here.
  ///
  /// An element can be kept because of another element, which may itself turn out to conflict. So
  /// occupants are resolved once more, and the indices of elements are mapped from the other batch
  /// to this one.
  ///
  /// - Parameter conflicts: The elements of the other batch that are not written.
  mutating func carryOver(_ conflicts: [ElementConflict], of other: Self) {
    let excluded = Set(conflicts.map(\.element))
    var index: [Int: Int] = [:]
    for element in other.items.indices where !excluded.contains(element) {
      index[element] = index.count
    }
    // An element may conflict several times; the first occupant counts.
    let occupants = Dictionary(conflicts.map { ($0.element, $0.occupant) }) { first, _ in first }
    func reindexed(_ occupant: Occupant) -> Occupant? {
      guard case .element(let element) = occupant else { return occupant }
      if let position = index[element] { return .element(position) }
      // The occupant conflicts itself and isn't written. Then its own occupant has the place, which
      // is written or exists.
      guard case .some(.some(let other)) = occupants[element], other != occupant else { return nil }
      if case .element(let element) = other { return index[element].map { .element($0) } }
      return other
    }
    kept = other.kept.compactMap { kept in
      reindexed(kept.element.occupant).map {
        KeptItem(item: kept.item, element: .init(element: kept.element.element, occupant: $0))
      }
    }
    for conflict in conflicts {
      guard let occupant = conflict.occupant.flatMap(reindexed) else { continue }
      let element = ElementBatch<Element>.Kept(
        element: other.elements[conflict.element], occupant: occupant)
      kept.append(KeptItem(item: other.items[conflict.element], element: element))
    }
  }

  /// A digest of the items' identities in order.
  var fingerprint: String { ItemDigest.text(of: items.lazy.map(\.identity)) }
}
