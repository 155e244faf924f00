import Foundation
public import SwiftData

/// A group of rows over two classes that one save writes: whole when the checksum is that of its
/// entries.
@Model public final class Ledger {
  @Attribute(.unique) public var number: Int
  public var writer: String
  public var checksum: Int
  @Relationship(deleteRule: .cascade, inverse: \Entry.ledger) public var entries: [Entry] = []

  public init(number: Int, writer: String, amounts: [Int]) {
    self.number = number
    self.writer = writer
    checksum = Ledger.checksum(of: amounts)
    entries = amounts.map { Entry(amount: $0) }
  }

  static func checksum(of amounts: [Int]) -> Int {
    amounts.reduce(amounts.count) { ($0 &* 31) &+ $1 }
  }

  /// Whether the rows are those of one save.
  public var isWhole: Bool {
    !entries.isEmpty && checksum == Ledger.checksum(of: entries.map(\.amount))
      && entries.allSatisfy { $0.ledger === self }
  }

  /// Gives the group other rows: some go, some come, some change.
  public func revise(_ amounts: [Int]) {
    let kept = entries.prefix(entries.count / 2)
    for entry in entries.dropFirst(kept.count) { modelContext?.delete(entry) }
    for (entry, amount) in zip(kept, amounts) { entry.amount = amount }
    entries = kept + amounts.dropFirst(kept.count).map { Entry(amount: $0) }
    checksum = Ledger.checksum(of: entries.map(\.amount))
  }
}

@Model public final class Entry {
  public var amount: Int
  public var ledger: Ledger?

  public init(amount: Int) { self.amount = amount }
}

/// The container that the worker and the tests open.
public func openLedgers(at url: URL) throws -> ModelContainer {
  try ModelContainer(for: Ledger.self, Entry.self, configurations: ModelConfiguration(url: url))
}
