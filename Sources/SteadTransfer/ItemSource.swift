/// What a ``TransferSource`` reads from, and removes from.
///
/// Items are removed from a source only after they were written elsewhere and read back from there. Others may add to
/// it at any time; what they add is left alone.
protocol ItemSource<Value>: Sendable {
  /// What one item is, once it has been read.
  associatedtype Value

  /// What it is, for reports and errors: `key drafts of org.example.Notes`.
  var name: String { get }

  /// The name by which a receipt knows the source, so that another one under the same transfer's name is noticed;
  /// nil where the transfer's name tells that, or the source may have another name the next time.
  var lastingName: String? { get }

  /// Whether ``remove(_:)`` can take items out; a file of another program is left as it is.
  var isRemovable: Bool { get }

  /// Whether no item can ever come that equals one which was removed, since each has a number of its own;
  /// false unless a source says otherwise.
  ///
  /// After a run that was cut off, what is left of its items can then be removed without a doubt.
  var hasUniqueIdentities: Bool { get }

  /// A text that stays the same for as long as the source holds the same, without reading it; nil when it
  /// cannot tell, or has changed so lately that another change might not show.
  func mark() throws -> String?

  /// What the source holds now. Changes nothing.
  ///
  /// An item that does not decode is an item with an error. What cannot be taken apart into items at all
  /// is an error thrown, here or while the items are gone through.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<Value>

  /// Takes items out for good, as one change, and nothing else, whatever was added meanwhile.
  ///
  /// An entry stands for one item with that identity; one that is gone already, or has changed, is no
  /// error. Returns when it would survive a loss of power.
  ///
  /// - Returns: How many items were taken out.
  @discardableResult
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int

  /// Whether removing from the source could take away what is put at these places; false unless a source
  /// says otherwise.
  ///
  /// What is written there would be taken for what is to be removed.
  func overlaps(_ placements: [TransferPlacement], of destination: any ItemDestination) -> Bool
}

extension ItemSource {
  var lastingName: String? { name }

  var hasUniqueIdentities: Bool { false }

  func mark() throws -> String? { nil }

  func overlaps(_ placements: [TransferPlacement], of destination: any ItemDestination) -> Bool {
    false
  }
}
