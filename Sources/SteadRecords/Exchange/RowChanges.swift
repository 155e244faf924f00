import SteadSQLite

/// The changes of one transaction of a store's history, row by row.
package struct RowChanges: Sendable {
  /// The change of one row.
  package struct Change: Sendable {
    /// What was done to the row.
    package enum Kind: Sendable { case insert, update, delete }

    package let kind: Kind
    package let entity: String
    /// The row's number.
    package let number: Int64
    /// When the row's object was edited, in milliseconds since 1970.
    package let milliseconds: Int64
    /// The names of the properties that an update changed.
    package let properties: [String]
  }

  /// The number of the transaction.
  package let number: Int64
  /// Who made it, by the name that the context or the caller of `apply` gave; nil for none.
  package let author: String?
  /// The changes, in the order in which they were recorded.
  package let changes: [Change]
}

extension RowChanges {
  /// Reads the changes of a transaction from its text.
  ///
  /// - Throws: ``HistoryFormat/Malformed``.
  fileprivate static func changes(
    _ text: UnsafeBufferPointer<UInt8>, at stamp: Int64
  ) throws -> [Change] {
    var changes: [Change] = []
    try HistoryFormat.forEachGroup(in: text) { group in
      let kind: Change.Kind =
        switch group.kind {
        case .insert: .insert
        case .update: .update
        case .delete: .delete
        }
      let entity = try group.entity()
      let names = try group.names()
      var ages = NumberRuns.FallingReader(group.ages)
      group.rows.forEach { row in
        // Wraps instead of trapping: a damaged row may have any age.
        let edit = stamp &- ages.read()
        changes.append(
          Change(
            kind: kind, entity: entity, number: row,
            milliseconds: edit >> EditClock.counterBits,
            properties: kind == .update ? names : []))
      }
    }
    return changes
  }
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
    // Not a shared statement: the body may run the same SQL.
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
        // Decoded before the body is called: SQLite's text is valid until the statement steps.
        changes = try statement.withText(3) { try RowChanges.changes($0, at: stamp) }
      } catch is HistoryFormat.Malformed {
        throw SwiftDataError(
          .unreadableStore,
          "Transaction \(number) of the history is damaged, or has more than \(HistoryFormat.changeLimit) changes. "
            + "Delete the history up to it, and compare the rows again."
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
