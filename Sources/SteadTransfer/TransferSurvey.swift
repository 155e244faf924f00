/// What a look through the whole source has found, before anything is written.
struct TransferSurvey<Value, Element> {
  /// Which items are new.
  var plan: TransferPlan
  /// How many of the new items did not convert.
  var failedCount = 0
  /// What is to be written, if it fits into one batch; else what has come last.
  var batch = ItemBatch<Value, Element>()
  /// The fingerprints of the batches before, which were converted and released.
  var fingerprints: [String] = []
  /// How many elements have free places in the destination, of those that were looked at.
  var freeCount = 0
  /// How many of these would replace something.
  var replacedCount = 0
  /// How many elements would give way to what has their places.
  var keptCount = 0
  /// The places that are taken.
  var conflict: TransferError?
  /// The entries of what earlier runs have moved, by their places in the receipt, where these are wanted.
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
