/// What a source holds, to be gone through item by item, as often as needed.
struct ItemReading<Value> {
  typealias Body = (TransferItem<Value>) throws -> Void

  /// The number of items; nil if it is only known at the end.
  let count: Int?
  private let pass: (TransferProgress.Report, Body) throws -> Void

  /// Items that are in memory.
  init(_ items: [TransferItem<Value>]) {
    count = items.count
    pass = { _, body in try items.forEach(body) }
  }

  /// Items that are read again in each pass.
  ///
  /// - Parameter pass: Calls the body with each item in order, and reports how many it has read.
  init(pass: @escaping (TransferProgress.Report, Body) throws -> Void) {
    count = nil
    self.pass = pass
  }

  /// Calls a body with each item, in the source's order.
  func forEach(_ progress: TransferProgress.Report, _ body: Body) throws {
    try pass(progress, body)
  }
}
