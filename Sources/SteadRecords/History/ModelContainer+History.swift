import Foundation
import SteadFiles

extension ModelContainer {
  /// A read-only container with the stores' contents after a transaction.
  ///
  /// ```swift
  /// let past = try container.asOf(transaction.token)
  /// let names = try ModelContext(past).fetch(FetchDescriptor<Trip>()).map(\.name)
  /// ```
  ///
  /// Its objects have the identifiers that they had, and its history ends with the transaction. A save throws
  /// ``SwiftDataError/readOnlyStore``: save to this container, or ``restore(to:author:)``. It is a copy in a temporary
  /// directory, which is removed with the container, or when the process ends. It costs a read and a write of the whole
  /// stores, and a deletion or an insert for each row that was changed since. Files of external storage are the store's
  /// own. Ephemeral attributes may have later values.
  ///
  /// - Throws: `SwiftDataError`: `oldValuesMissing` unless all stores keep old values, which custom ones do not;
  ///   `historyTokenExpired` if the old values begin after the transaction; `invalidTransactionFetchRequest` for a
  ///   token of other stores; and what copying a file throws.
  public func asOf(_ token: DefaultHistoryToken) throws -> ModelContainer {
    guard customStores.isEmpty else {
      throw SwiftDataError(
        .oldValuesMissing,
        "The container has a custom store, which keeps no old values. Open the other stores in a container of their own."
      )
    }
    // Owned by the new container: its release removes the copies.
    let past = try ScratchDirectory(prefix: StoreReading.directoryPrefix)
    let copies = try stores.enumerated().map { index, store in
      let number = try number(of: token, in: store)
      let url = past.url.appending(path: "\(index).store")
      // Each copy is of its own moment: stores have no common commits, and the token names a
      // transaction of each.
      try store.copy(to: url, asOf: number)
      var configuration = ModelConfiguration(
        store.configuration.name, schema: store.configuration.schema, url: url, allowsSave: false)
      configuration.isPast = true
      return configuration
    }
    return try ModelContainer(
      for: schema, migrationPlan: nil, configurations: copies, isCurrent: false, past: past
    ) { _ in nil }
  }

  /// Restores all stores, except custom ones, to their state after a transaction, and returns the position of
  /// the restoration in the history.
  ///
  /// The restoration is a transaction in each store, so it can be undone as well. Objects that were deleted since exist
  /// again with their identifiers; those that were inserted since are gone. Contexts see it as a save of another
  /// context. To undo the last transaction, restore to the token of the one before it.
  ///
  /// ```swift
  /// let before = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).dropLast().last
  /// if let before { try container.restore(to: before.token, author: "undo") }
  /// ```
  ///
  /// Costs a write for each row that was changed since, ten times one of a save, and a read of the names of all large
  /// values. Several stores are written one after the other; if one throws, those before it are restored.
  ///
  /// - Parameters:
  ///   - token: The position in the history to go back to.
  ///   - author: The author of the transaction.
  /// - Throws: `SwiftDataError`: `oldValuesMissing` unless the stores keep old values, and for a store in memory;
  ///   `historyTokenExpired` if these begin after the transaction; `invalidTransactionFetchRequest` for a token of
  ///   other stores; `unreadableValue` if a large value of that time is gone; `transactionOpen` within
  ///   `transaction(block:)`; `readOnlyStore`. The store that fails is unchanged.
  @discardableResult
  public func restore(
    to token: DefaultHistoryToken, author: String? = nil
  ) throws -> DefaultHistoryToken {
    let stores = ownStores
    // All of them before the first store is written, so that a token of other stores changes nothing.
    let numbers = try stores.map { try number(of: token, in: $0) }
    var result: [String: Int64] = [:]
    for (store, number) in zip(stores, numbers) {
      result[store.identity.identifier] = try store.restore(to: number, author: author)
    }
    return DefaultHistoryToken(result)
  }

  /// The token's transaction in a store.
  ///
  /// - Throws: ``SwiftDataError`` `.invalidTransactionFetchRequest` if the token does not name the store.
  private func number(of token: DefaultHistoryToken, in store: RecordStore) throws -> Int64 {
    guard let number = token.number(in: store.identity.identifier) else {
      throw SwiftDataError(
        .invalidTransactionFetchRequest,
        "The token does not name the store \(store.configuration.name). Use one of a transaction of this container."
      )
    }
    return number
  }
}

// MARK: - Readers

extension ModelContainer {
  /// The positions of the named readers in the history: up to where each has handled it.
  ///
  /// Reads the stores. A reader whose token is far behind keeps the history from being trimmed: compare with the newest
  /// transaction to find it.
  ///
  /// ```swift
  /// for (name, token) in try container.historyReaders { print(name, token) }
  /// ```
  ///
  /// - Throws: What reading the stores throws.
  public var historyReaders: [String: DefaultHistoryToken] {
    get throws {
      var numbers: [String: [String: Int64]] = [:]
      for store in ownStores {
        let readers = try store.read(.newest) { connection, _ in
          try HistoryTrimming(connection: connection, limits: .none).readers()
        }
        // A reader has a position in each store. Together they are one token.
        for (name, number) in readers {
          numbers[name, default: [:]][store.identity.identifier] = number
        }
      }
      return numbers.mapValues { DefaultHistoryToken($0) }
    }
  }

  /// Keeps the history after a token until a named reader has handled more of it.
  ///
  /// The name and the position are stored in the stores, so that any program that trims the history respects them. Call
  /// it with each token that the reader has handled: a reader that never returns keeps the history forever, unless
  /// `HistoryLimits.unreadTransactions` is set. `deleteHistory` ignores readers. Costs a commit in each store.
  ///
  /// ```swift
  /// for transaction in try context.fetchHistory(descriptor) {
  ///   try await upload(transaction)
  ///   try container.setHistoryReader("upload", at: transaction.token)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The reader's name, such as `sync`.
  ///   - token: What it has handled, of the stores in the token; nil for nothing.
  /// - Throws: ``SwiftDataError/readOnlyStore`` for a store that cannot be written, and
  ///   ``SwiftDataError/storeLocked`` if another process holds its lock for 60 seconds.
  public func setHistoryReader(_ name: String, at token: DefaultHistoryToken?) throws {
    for store in ownStores {
      // 0 is before the first transaction: the reader has handled nothing, and all of the history
      // is kept for it.
      let position = token.map { $0.number(in: store.identity.identifier) } ?? 0
      // The token of a save names the stores that it wrote to; the others' positions stay.
      guard let number = position else { continue }
      try store.writer.maintain {
        try HistoryTrimming(connection: $0, limits: .none).setReader(name, to: number)
      }
    }
  }

  /// Forgets a reader; the history is no longer kept for it. Has no effect if there is none of that name.
  ///
  /// - Throws: What ``setHistoryReader(_:at:)`` throws.
  public func removeHistoryReader(_ name: String) throws {
    for store in ownStores {
      try store.writer.maintain {
        try HistoryTrimming(connection: $0, limits: .none).removeReader(name)
      }
    }
  }

  /// Removes the history that the configurations' limits do not keep, now. A save does the same from time to time.
  ///
  /// Tokens before the removed part expire. Without limits nothing is removed.
  ///
  /// Costs a commit in each store that has limits, and waits for other writers as a save does.
  ///
  /// - Throws: `SwiftDataError` `readOnlyStore` for a store that cannot be written.
  public func trimHistory() throws {
    for store in ownStores { try store.trimHistory() }
  }
}
