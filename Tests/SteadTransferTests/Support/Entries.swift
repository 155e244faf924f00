import Testing

@testable import SteadTransfer

/// What a transfer has noted, all of it.
struct Entries: Equatable {
  var moved: [TransferReceipt.Entry] = []
  var pending: [TransferReceipt.Entry] = []
}

extension ItemDestination {
  /// The entries of a receipt; nil when there is no receipt.
  func entries(named id: String) throws -> Entries? {
    guard let receipt = try receipt(named: id) else { return nil }
    var all: [TransferReceipt.Entry] = []
    while all.count < receipt.count { all += try chunk(of: receipt, at: all.count).entries }
    return Entries(
      moved: Array(all[..<receipt.movedCount]), pending: Array(all[receipt.pending]))
  }
}

extension ItemSource {
  /// All items.
  func read(_ progress: TransferProgress.Report) throws -> [TransferItem<Value>] {
    var items: [TransferItem<Value>] = []
    try open(progress).forEach(progress) { items.append($0) }
    return items
  }
}
