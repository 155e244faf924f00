/// The implementation of a ``TransferDestination``.
///
/// A destination stores elements and the transfer's receipt. Both are written atomically, or so
/// that a repeated write after a crash duplicates nothing.
protocol ItemDestination<Element>: Sendable {
  /// What is written for one item.
  associatedtype Element

  /// The destination's name in reports and errors: `records in notes.store`.
  var name: String { get }

  /// Whether a run may write several batches, each with its part of the receipt. False by default:
  /// everything is then one batch.
  var acceptsChunks: Bool { get }

  /// Throws if an element certainly can't be written; its item then counts as not converted. Checks
  /// nothing by default.
  func check(_ element: Element) throws

  /// Checks a batch for conflicts without writing it, for a preview and before the first of several
  /// batches.
  ///
  /// - Returns: How many elements would replace something.
  /// - Throws: ``TransferError/Code/conflict`` with all elements whose places are taken, unless the
  ///   batch's rule is to replace.
  func checkConflicts(_ batch: ElementBatch<Element>) throws -> Int

  /// The receipt of a transfer; nil if the transfer has never written anything here.
  func receipt(named id: String) throws -> TransferReceipt?

  /// The chunk of a receipt's entries that begins at an index.
  ///
  /// - Throws: ``TransferError/Code/changed`` if no chunk begins there, because another process has
  ///   changed the receipt.
  func chunk(of receipt: TransferReceipt, at index: Int) throws -> ReceiptChunk

  /// Writes elements and their receipt atomically, and returns when both are durable.
  ///
  /// A destination without transactions writes so that a repeated write after a crash duplicates
  /// nothing. The stored receipt must be the predecessor of `receipt`
  /// (``TransferReceipt/checkFollows(_:)``); otherwise another process was faster, and nothing is
  /// written.
  ///
  /// - Parameters:
  ///   - batch: The elements to write.
  ///   - receipt: The receipt with these elements.
  ///   - progress: Called during the work. An error that it throws stops the work as long as
  ///     nothing is written.
  ///   - entries: Makes the receipt's entries, once the location of each element is known and
  ///     before the commit. An error that it throws is rolled back.
  /// - Throws: ``TransferError/Code/conflict`` with all elements whose places are taken, unless the
  ///   batch's rule is to replace.
  func write(
    _ batch: ElementBatch<Element>, _ receipt: TransferReceipt,
    _ progress: TransferProgress.Report,
    entries: (_ written: WrittenElements) throws -> ReceiptChunk
  ) throws

  /// Reads back what was written, past every cache.
  ///
  /// The items are removed from the source next. So what is found must be durable, also if the
  /// process that wrote it was killed before it had synced.
  ///
  /// - Returns: The placements that are missing, or have other contents than their digests.
  func verify(
    _ placements: [TransferPlacement], _ progress: TransferProgress.Report
  ) throws -> [TransferPlacement]

  /// Replaces the stored receipt by its successor (``TransferReceipt/checkFollows(_:)``).
  ///
  /// An emptied receipt loses its chunks, and the chunks of a finished one are folded.
  func replace(_ receipt: TransferReceipt) throws
}

extension ItemDestination {
  var acceptsChunks: Bool { false }

  func check(_ element: Element) throws {}

  func checkConflicts(_ batch: ElementBatch<Element>) throws -> Int { 0 }
}

// MARK: - What is written

/// The elements that a destination writes at once.
struct ElementBatch<Element> {
  /// The elements to write, in the source's order.
  var elements: [Element]
  /// The elements that are not written because the existing values stay. Relationships to them lead
  /// to their occupants.
  var kept: [Kept] = []
  /// The rule for elements whose places are taken.
  var rule: TransferOptions.ConflictRule

  /// An element that is not written, and what has its place.
  struct Kept {
    var element: Element
    var occupant: Occupant
  }

  init(_ elements: [Element], _ rule: TransferOptions.ConflictRule = .stop) {
    self.elements = elements
    self.rule = rule
  }
}

/// What a destination has written, before it commits.
struct WrittenElements {
  /// The placement of each element, in order.
  var placements: [TransferPlacement]
  /// How many elements have replaced something.
  var replacedCount = 0
}

// MARK: - Conflicts

/// An element whose place in the destination is taken.
struct ElementConflict {
  /// The element's index in the batch.
  var element: Int
  /// What has the place; nil if the element can't give way to it, such as one whose unique values
  /// belong to two records.
  var occupant: Occupant?
  /// The failure that the caller gets, named by the location in the destination.
  var failure: TransferFailure
}

/// What has the place of an element.
enum Occupant: Equatable {
  /// Something in the destination, by its location.
  case stored(String)
  /// Another element of the batch, by its index.
  case element(Int)

  /// Whether the occupant is another element of the batch.
  var isElement: Bool {
    if case .element = self { true } else { false }
  }

  /// The reason of a failure for a unique value that is taken.
  static func reason(ofUniqueValue occupant: Occupant?) -> String {
    switch occupant {
    case .element: "another item has its unique value already"
    case .stored: "a record has its unique value already"
    case nil: "a record or another item has its unique value already"
    }
  }
}

// MARK: - Batches

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
