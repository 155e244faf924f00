/// One step of a history: a word and numbers, so that it can be printed, removed and run again.
///
/// Numbers are choices among what exists when the step runs; a step that has nothing to choose from does nothing.
package struct Step: Hashable, Sendable, CustomStringConvertible {
  package enum Kind: String, CaseIterable, Sendable {
    // The world, at the beginning.
    case devices, pages, skew, wire, quota
    // Edits: device, record, variant.
    case insert, update, delete, link, family, guarded
    // The network: what a device sends, and what becomes of a message.
    case push, pull, deliver, double, lose, partition, heal
    /// A whole exchange without trouble.
    case sync
    /// A device ends and starts again; or ends between an answer and its commit.
    case kill, die
    /// A device's disk is copied; or is as the copy has it, as after a restored backup.
    case image, rewind
    case wait
    // The server.
    case purge, sweep, backup, restore, failover, minimum
    case upgrade, join, refetch, retry
  }

  package var kind: Kind
  package var numbers: [Int]

  package init(_ kind: Kind, _ numbers: Int...) {
    self.kind = kind
    self.numbers = numbers
  }

  /// A number; 0 where the step has fewer.
  subscript(_ index: Int) -> Int { index < numbers.count ? numbers[index] : 0 }

  package var description: String {
    ([kind.rawValue] + numbers.map(String.init)).joined(separator: " ")
  }

  /// Reads what ``description`` has written.
  package init?(_ line: String) {
    let words = line.split(separator: " ")
    guard let first = words.first, let kind = Kind(rawValue: String(first)) else { return nil }
    let numbers = words.dropFirst().compactMap { Int($0) }
    guard numbers.count == words.count - 1 else { return nil }
    self.kind = kind
    self.numbers = numbers
  }
}
