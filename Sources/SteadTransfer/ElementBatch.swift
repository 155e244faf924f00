/// What a destination is to write for the items of a batch.
struct ElementBatch<Element> {
  /// What is written, in the source's order.
  var elements: [Element]
  /// What is not written, since what has its place is kept.
  var kept: [Kept] = []
  /// What becomes of elements whose places are taken.
  var rule: TransferOptions.ConflictRule

  /// An element that is not written.
  struct Kept {
    var element: Element
    var holder: PlaceHolder
  }

  init(_ elements: [Element], _ rule: TransferOptions.ConflictRule = .stop) {
    self.elements = elements
    self.rule = rule
  }
}
