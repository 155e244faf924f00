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
    var holder: PlaceHolder
  }

  init(_ elements: [Element], _ rule: TransferOptions.ConflictRule = .stop) {
    self.elements = elements
    self.rule = rule
  }
}
