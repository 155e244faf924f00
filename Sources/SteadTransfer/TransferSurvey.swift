/// The result of reading the whole source, before anything is written.
struct TransferSurvey<Value, Element> {
  /// Which items are new.
  var plan: TransferPlan
  /// How many of the new items did not convert.
  var failedCount = 0
  /// The elements to write, if they fit into one batch; otherwise the latest ones.
  var batch = ItemBatch<Value, Element>()
  /// The fingerprints of the batches before, which were converted and released.
  var fingerprints: [String] = []
  /// How many elements have free places in the destination, of those that were looked at.
  var freeCount = 0
  /// How many of these would replace something.
  var replacedCount = 0
  /// How many elements would be left out because their places are taken.
  var keptCount = 0
  /// The places that are taken.
  var conflict: TransferError?
  /// The entries of items that earlier runs have moved, by their places in the receipt, if they are wanted.
  var moved: [Int] = []

  init(_ plan: TransferPlan) { self.plan = plan }

  mutating func note(_ error: TransferError) {
    guard var known = conflict else {
      conflict = error
      return
    }
    known.failures += error.failures
    conflict = known
  }
}
