import Foundation
import SteadTestSupport
import Testing

@testable import SteadTransfer

extension TransferReceipt {
  /// The receipt of a first run.
  static func first(_ count: Int, id: String = "drafts") -> TransferReceipt {
    .none(id).adding(count, at: Date(timeIntervalSinceReferenceDate: 1))
  }
}

extension ReceiptChunk {
  /// Entries of items that are named by their place in the order.
  static func test(_ written: WrittenElements) -> ReceiptChunk {
    ReceiptChunk(
      written.placements.enumerated().map { .init(identity: "item \($0)", placement: $1) })
  }
}

/// Writes elements as a transfer does, and gives their placements.
///
/// - Parameter receipt: The receipt that is there; nil for the one that is kept, or none.
func move<D: ItemDestination>(
  _ elements: [D.Element], to destination: D, id: String = "drafts",
  after receipt: TransferReceipt? = nil, identities: [String]? = nil
) throws -> [TransferPlacement] {
  let before = receipt ?? .none(id)
  let next = before.adding(elements.count, at: Date(timeIntervalSinceReferenceDate: 1))
  try destination.write(ElementBatch(elements), next, { _ in }) { written in
    guard let identities else { return .test(written) }
    return ReceiptChunk(
      zip(identities, written.placements).map { .init(identity: $0, placement: $1) })
  }
  let written = try #require(try destination.receipt(named: id))
  #expect(written == next)
  return try #require(try destination.entries(named: id)).pending.map(\.placement)
}

/// Runs SQL on a store as another program would, and gives what the sqlite3 tool prints.
@discardableResult
func sqlite(_ url: URL, _ sql: String) throws -> String {
  try ToolRun.text(["sqlite3", "-cmd", ".timeout 10000", url.path, sql])
}
