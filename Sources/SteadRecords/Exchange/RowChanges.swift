import SteadSQLite

/// What one transaction of a store's history has changed, row by row.
package struct RowChanges: Sendable {
  /// The change of one row.
  package struct Change: Sendable {
    package enum Kind: Sendable { case insert, update, delete }

    package let kind: Kind
    package let entity: String
    package let number: Int64
    /// When the row's object was edited, in milliseconds since 1970.
    package let milliseconds: Int64
    /// The names of the properties that an update changed.
    package let properties: [String]
  }

  /// The number of the transaction.
  package let number: Int64
  package let author: String?
  package let changes: [Change]
}

extension RowTransaction {
  /// The number of the last visible commit; a writing transaction's own is the next one.
  package func lastCommit() throws -> Int64 { try connection.lastCommit().number }

  /// Whether the history after a transaction is complete.
  package func hasHistory(after number: Int64) throws -> Bool {
    guard try connection.hasHistory() else { return false }
    return try number >= connection.lastDeletedTransaction()
  }

  /// Calls a body with the transactions after one, in order. Costs a read of their changes, not of any row.
  ///
  /// - Throws: ``SwiftDataError`` `.unreadableStore` if a transaction's list of changes is damaged.
  package func forEachTransaction(
    after number: Int64, _ body: (RowChanges) throws -> Void
  ) throws {
    let statement = try connection.prepare(
      "SELECT number, stamp, author, changes FROM stead_history "
        + "WHERE changes IS NOT NULL AND number > ?1 ORDER BY number")
    statement.bind(number, at: 1)
    while try statement.step() {
      let number = statement.integer(0)
      let stamp = statement.integer(1)
      let author: String? = if case .text(let text) = statement.value(2) { text } else { nil }
      let changes: [RowChanges.Change]
      do {
        changes = try statement.withText(3) { try RowChangeReader(stamp: stamp).changes($0) }
      } catch is ChangeParser.Malformed {
        throw SwiftDataError(
          .unreadableStore,
          "Transaction \(number) of the history is damaged. Delete the history up to it, and compare the rows again."
        )
      }
      try body(RowChanges(number: number, author: author, changes: changes))
    }
  }

  /// Keeps the history after a transaction until the named reader has handled more of it.
  package func setHistoryReader(_ name: String, to number: Int64) throws {
    try HistoryTrimming(connection: connection, limits: .none).setReader(name, to: number)
  }
}

/// Reads the string that the history has of a transaction; the format is drawn at ``ChangeList``.
private struct RowChangeReader {
  let stamp: Int64

  func changes(_ text: UnsafeBufferPointer<UInt8>) throws -> [RowChanges.Change] {
    var changes: [RowChanges.Change] = []
    var parser = ChangeParser(text)
    try parser.forEach { try readGroup(&$0, &changes) }
    return changes
  }

  private func readGroup(
    _ parser: inout ChangeParser, _ changes: inout [RowChanges.Change]
  ) throws {
    try parser.expect("[")
    let kind: RowChanges.Change.Kind
    switch try parser.number() {
    case 0: kind = .insert
    case 1: kind = .update
    case 2: kind = .delete
    default: throw ChangeParser.Malformed()
    }
    try parser.expect(",")
    let entity = try parser.string()
    try parser.expect(",")
    let rows = try parser.runs()
    try parser.expect(",")
    var ages = NumberRuns.FallingReader(try parser.runs())
    var properties: [String] = []
    if parser.takes(",") {
      let names = try parser.strings()
      if kind == .update { properties = names }
    }
    // The preserved values of deletes.
    if parser.takes(",") { try parser.forEach { _ = try $0.rawStrings() } }
    try parser.expect("]")
    rows.forEach { row in
      let edit = stamp &- ages.read()
      changes.append(
        RowChanges.Change(
          kind: kind, entity: entity, number: row,
          milliseconds: edit >> EditClock.counterBits, properties: properties))
    }
  }
}
