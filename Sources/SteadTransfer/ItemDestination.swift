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
