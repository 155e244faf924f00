import Foundation
import SteadTestSupport
import Testing

@testable import SteadTransfer

extension TransferReceipt {
  /// A receipt of items that are named by their place in the order.
  static func test(
    _ placements: [TransferPlacement], id: String = "drafts", moved: [Entry] = [],
    identities: [String]? = nil
  ) -> TransferReceipt {
    TransferReceipt(
      id: id, state: .written, date: Date(timeIntervalSinceReferenceDate: 1), moved: moved,
      pending: placements.enumerated().map {
        Entry(identity: identities?[$0] ?? "item \($0)", placement: $1)
      })
  }
}

/// Writes elements as a transfer does, and gives their placements.
func move<D: ItemDestination>(
  _ elements: [D.Element], to destination: D, id: String = "drafts",
  moved: [TransferReceipt.Entry] = [], identities: [String]? = nil
) throws -> [TransferPlacement] {
  try destination.write(elements, { _ in }) {
    .test($0, id: id, moved: moved, identities: identities)
  }
  return try #require(try destination.receipt(named: id)).pending.map(\.placement)
}

/// Runs SQL on a store as another program would, and gives what the sqlite3 tool prints.
@discardableResult
func sqlite(_ url: URL, _ sql: String) throws -> String {
  try ToolRun.text(["sqlite3", "-cmd", ".timeout 10000", url.path, sql])
}
