/// The implementation of a ``TransferDestination``.
protocol ItemDestination<Element>: Sendable {
  /// The element that is written for one item.
  associatedtype Element

  /// Its description in reports and errors: `records in notes.store`.
  var name: String { get }

  /// Whether many items may be written in chunks, each together with its part of the receipt; false by default.
  var takesChunks: Bool { get }

  /// Throws if an element certainly cannot be written; its item then counts as not converted. By default nothing is
  /// checked.
  func check(_ element: Element) throws

  /// Throws ``TransferError/Code/conflict`` with the elements whose places are taken, unless they replace what is
  /// there; writes nothing. For a transfer's preview.
  ///
  /// Returns how many elements would replace something.
  func checkFree(_ batch: ElementBatch<Element>) throws -> Int

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
  var takesChunks: Bool { false }

  func check(_ element: Element) throws {}

  func checkFree(_ batch: ElementBatch<Element>) throws -> Int { 0 }
}
