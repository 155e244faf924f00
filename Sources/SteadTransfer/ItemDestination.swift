/// The implementation of a ``TransferDestination``.
protocol ItemDestination<Element>: Sendable {
  /// The element that is written for one item.
  associatedtype Element

  /// Its description in reports and errors: `records in notes.store`.
  var name: String { get }

  /// Whether many items may be written in chunks, each together with its part of the receipt; false by default.
  var acceptsChunks: Bool { get }

  /// Throws if an element certainly cannot be written; its item then counts as not converted. By default nothing is
  /// checked.
  func check(_ element: Element) throws

  /// Throws ``TransferError/Code/conflict`` with the elements whose places are taken, unless they replace what is
  /// there; writes nothing. For a transfer's preview.
  ///
  /// Returns how many elements would replace something.
  func checkConflicts(_ batch: ElementBatch<Element>) throws -> Int

  /// The receipt of a transfer; nil if the transfer has never run here.
  func receipt(named id: String) throws -> TransferReceipt?

  /// The chunk of a receipt's entries that begins with one of them.
  ///
  /// - Throws: ``TransferError/Code/changed`` if it doesn't exist, because another process has changed the receipt.
  func chunk(of receipt: TransferReceipt, at index: Int) throws -> ReceiptChunk

  /// Writes elements and their receipt: all of it or nothing.
  ///
  /// Returns when it would survive a loss of power. A destination that cannot write both as one writes
  /// so that doing it again after a kill doubles nothing.
  ///
  /// The receipt that is there at that moment must be the one that this one is to follow
  /// (``TransferReceipt/checkFollows(_:)``), else nothing is written: another process was quicker.
  ///
  /// - Parameters:
  ///   - batch: The elements to write. If the places of some are taken, and the batch's rule isn't to replace them,
  ///     ``TransferError/Code/conflict`` is thrown with all such elements.
  ///   - receipt: The receipt with them.
  ///   - progress: Called while it works; an error that it throws stops the work as long as nothing is written.
  ///   - entries: Makes the receipt's entries once it is known where each element has gone.
  func write(
    _ batch: ElementBatch<Element>, _ receipt: TransferReceipt,
    _ progress: TransferProgress.Report,
    entries: (_ written: WrittenElements) throws -> ReceiptChunk
  ) throws

  /// Reads back what was written, past every cache, and gives the places that are not there, or hold
  /// something else than their digest says.
  ///
  /// The source goes next, so what was found must survive a loss of power, also where the process that
  /// wrote it was killed before it could see to that.
  func verify(
    _ placements: [TransferPlacement], _ progress: TransferProgress.Report
  ) throws -> [TransferPlacement]

  /// Replaces the receipt that is there by one that follows it (``TransferReceipt/checkFollows(_:)``).
  ///
  /// Chunks go with their entries, and those of a run that is finished are folded.
  func replace(_ receipt: TransferReceipt) throws
}

extension ItemDestination {
  var acceptsChunks: Bool { false }

  func check(_ element: Element) throws {}

  func checkConflicts(_ batch: ElementBatch<Element>) throws -> Int { 0 }
}

// MARK: - What is written

/// The elements that a destination writes for the items of a batch.
struct ElementBatch<Element> {
  /// The elements to write, in the source's order.
  var elements: [Element]
  /// The elements that are not written, because their places are taken and those values are kept.
  var kept: [Kept] = []
  /// The rule for elements whose places are taken.
  var rule: TransferOptions.ConflictRule

  /// An element that is not written.
  struct Kept {
    var element: Element
    var occupant: Occupant
  }

  init(_ elements: [Element], _ rule: TransferOptions.ConflictRule = .stop) {
    self.elements = elements
    self.rule = rule
  }
}

/// The elements that a destination has written, before the commit.
struct WrittenElements {
  /// The place of each element, in order.
  var placements: [TransferPlacement]
  /// How many of the elements have replaced something.
  var replacedCount = 0
}

// MARK: - Conflicts

/// An element whose place in the destination is taken.
struct ElementConflict {
  var element: Int
  /// What has the place; nil where it cannot be kept instead of the element.
  var occupant: Occupant?
  var failure: TransferFailure
}

/// What has the place of an element.
enum Occupant: Equatable {
  /// Something in the destination, by its place there.
  case stored(String)
  /// Another element of the batch, by its index.
  case element(Int)

  var isElement: Bool {
    if case .element = self { true } else { false }
  }

  /// Why an element is not written whose unique value is taken.
  static func reason(ofUniqueValue occupant: Occupant?) -> String {
    switch occupant {
    case .element: "another item has its unique value already"
    case .stored: "a record has its unique value already"
    case nil: "a record or another item has its unique value already"
    }
  }
}
