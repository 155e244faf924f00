import Foundation

extension TransferReceipt {
  /// Throws unless this receipt may replace `current`, which is nil if none exists.
  ///
  /// A destination checks this in the transaction that writes the receipt. So if two processes run the same transfer
  /// at once, one writes, and the other gets an error that asks for another run.
  ///
  /// - Throws: ``TransferError`` `.changed`.
  func checkFollows(_ current: TransferReceipt?) throws {
    guard revision == (current?.revision ?? 0) + 1 else { throw overtaken(nil) }
  }

  /// Another run was quicker.
  func overtaken(_ cause: (any Error)?) -> TransferError {
    TransferError(
      code: .changed,
      message:
        "Another run of the transfer \(id) finished first. Run it again to see what is left.",
      cause: cause)
  }

  /// The receipt when further items are written.
  ///
  /// - Parameter isLast: Whether these are the last of the run.
  func adding(_ count: Int, at date: Date, isLast: Bool = true) -> TransferReceipt {
    var next = following()
    (next.state, next.date) = (isLast ? .written : .writing, date)
    next.pendingCount += count
    return next
  }

  /// The receipt when it turns out that the last items are written.
  func completed() -> TransferReceipt {
    var next = following()
    next.state = .written
    return next
  }

  /// The receipt after the source has removed the pending items, or keeps them on purpose.
  func finished(mark: TransferReceipt.Mark?) -> TransferReceipt {
    var next = following()
    next.state = .finished
    (next.movedCount, next.pendingCount) = (count, 0)
    next.mark = mark
    return next
  }

  /// The receipt once it is known that all of the source's items were moved.
  func marked(_ mark: TransferReceipt.Mark) -> TransferReceipt {
    var next = following()
    next.mark = mark
    return next
  }

  /// The receipt that has forgotten everything.
  func emptied() -> TransferReceipt {
    var next = following()
    next.state = .finished
    (next.movedCount, next.pendingCount, next.source) = (0, 0, nil)
    return next
  }

  private func following() -> TransferReceipt {
    var next = self
    next.revision += 1
    next.mark = nil
    return next
  }

  /// Before a transfer has moved anything; it is kept nowhere.
  static func none(_ id: String) -> TransferReceipt {
    TransferReceipt(
      id: id, state: .finished, date: .distantPast, revision: 0, movedCount: 0, pendingCount: 0)
  }
}
