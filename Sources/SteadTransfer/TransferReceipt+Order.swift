import Foundation

extension TransferReceipt {
  /// Throws unless this receipt may take the place of `current`, nil when there is none.
  ///
  /// A destination asks this in the transaction that writes the receipt. So of two processes that run the
  /// same transfer at once, one writes, and the other is told to look again.
  ///
  /// - Throws: ``TransferError`` `.changed`.
  func checkFollows(_ current: TransferReceipt?) throws {
    guard follows(current) else {
      throw TransferError(
        code: .changed,
        message: "Another run of the transfer \(id) was quicker. Run it again to see what is left.")
    }
  }

  private func follows(_ current: TransferReceipt?) -> Bool {
    // One that forgets all that was moved.
    if state == .finished, moved.isEmpty, pending.isEmpty { return true }
    guard let current else { return state == .written && moved.isEmpty }
    switch (current.state, state) {
    case (.finished, .written): return moved == current.moved
    case (.written, .finished): return pending.isEmpty && moved == current.moved + current.pending
    case (.written, .written), (.finished, .finished): return false
    }
  }

  /// The receipt of the next items, which are written.
  func written(_ entries: [Entry], at date: Date) -> TransferReceipt {
    TransferReceipt(id: id, state: .written, date: date, moved: moved, pending: entries)
  }

  /// The receipt once the source has given up what was pending, or keeps it on purpose.
  func finished() -> TransferReceipt {
    TransferReceipt(id: id, state: .finished, date: date, moved: moved + pending, pending: [])
  }

  /// The receipt of a transfer that has not moved anything.
  static func empty(_ id: String, at date: Date) -> TransferReceipt {
    TransferReceipt(id: id, state: .finished, date: date, moved: [], pending: [])
  }
}
