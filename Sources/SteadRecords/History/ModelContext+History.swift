import Foundation
import SteadSQLite

extension ModelContext {
  /// The transactions that match, of all stores of the container.
  ///
  /// ```swift
  /// var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
  /// if let token { descriptor.predicate = #Predicate { $0.token > token } }
  /// for transaction in try context.fetchHistory(descriptor) {
  ///   handle(transaction.changes)
  ///   token = transaction.token
  /// }
  /// ```
  ///
  /// Costs a read of each row of the history after the greatest token that the predicate names, so name the last one
  /// that you have handled. Unsaved changes are not part of any transaction. Reads without the write lock, and does not
  /// change the context's objects. Transactions of custom stores come after those of this library's stores.
  ///
  /// - Throws: `SwiftDataError`: `historyTokenExpired` if transactions after a token of the predicate were deleted,
  ///   or if the token is newer than the store, which was restored from a backup; `unreadableStore` if the history
  ///   was damaged, or one transaction has more than 8,388,608 changes; `invalidTransactionFetchRequest` for transactions
  ///   of a type that no store has, and for more than as many changes in one store together. What the predicate throws.
  public func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T]
  {
    // nil from a store whose transactions are of another type, so an empty list means that no store
    // has this type.
    let given = try container.customStores.compactMap { try $0?.fetchHistory(descriptor) }
    guard let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> else {
      if given.isEmpty { throw HistorySearch.unknown(T.self) }
      return given.flatMap(\.self)
    }
    let found = try HistorySearch(stores: container.ownStores, descriptor: descriptor)
      .transactions()
    // The types are one. As a whole the array is not gone through.
    let own = found as Any as? [T] ?? []
    return given.isEmpty ? own : own + given.flatMap(\.self)
  }

  /// Deletes the transactions that match, from all stores of the container, and commits immediately.
  ///
  /// ```swift
  /// var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
  /// descriptor.predicate = #Predicate { $0.token <= handled }
  /// try context.deleteHistory(descriptor)
  /// ```
  ///
  /// Tokens of earlier transactions expire. The numbering of transactions continues. Several stores are written one
  /// after the other; if one throws, those before it have lost theirs. Readers of
  /// ``ModelContainer/setHistoryReader(_:at:)`` are ignored: to respect them, set
  /// ``ModelConfiguration/historyLimits`` instead. Without a predicate nothing is read first.
  ///
  /// - Throws: `SwiftDataError` `readOnlyStore` for a store that cannot be written, and what ``fetchHistory(_:)``
  ///   throws.
  public func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws {
    let done = try container.customStores.compactMap { try $0?.deleteHistory(descriptor) }
    guard let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> else {
      if !done.contains(true) { throw HistorySearch.unknown(T.self) }
      return
    }
    try HistorySearch(stores: container.ownStores, descriptor: descriptor).delete()
  }
}

// MARK: - Searching

/// Finds the transactions that a descriptor describes in this package's stores.
private struct HistorySearch {
  let stores: [RecordStore]
  let descriptor: HistoryDescriptor<DefaultHistoryTransaction>

  /// The error for transactions of a type that no store has.
  static func unknown(_ type: any Any.Type) -> SwiftDataError {
    SwiftDataError(
      .invalidTransactionFetchRequest,
      "No store of the container has transactions of type \(type). Use DefaultHistoryTransaction.")
  }

  /// The error for transactions that would take more memory than a fetch may.
  private static var tooMany: SwiftDataError {
    SwiftDataError(
      .invalidTransactionFetchRequest,
      "The transactions have more than \(HistoryFormat.changeLimit) changes together. Set the descriptor's fetchLimit, and "
        + "fetch again after the last one's token.")
  }

  /// The maximum number of transactions; 0 for all.
  private var limit: Int { Int(clamping: descriptor.fetchLimit) }

  /// The transactions, in the descriptor's order.
  func transactions() throws -> [DefaultHistoryTransaction] {
    // One snapshot, and a limit that can end the read.
    if stores.count == 1 {
      return try stores[0].read(.newest) { connection, _ in
        try transactions(of: stores[0], connection, limit: limit)
      }
    }
    return try limited(sorted(merged()))
  }

  // MARK: - One store

  /// The transactions of one store. If they are wanted in the order of their numbers, a limit ends the read.
  private func transactions(
    of store: RecordStore, _ connection: StoreConnection, limit: Int
  ) throws -> [DefaultHistoryTransaction] {
    let filter = HistoryFilter(descriptor.predicate)
    let isReversed = self.isReversed
    var order = HistoryReader.Order(isReversed: isReversed ?? false)
    // In any other order all transactions have to be sorted first.
    if isReversed != nil { order.limit = limit }
    var found: [DefaultHistoryTransaction] = []
    var count: Int64 = 0
    let reader = HistoryReader(store: store, filter: filter)
    try reader.forEach(on: connection, order) {
      DefaultHistoryToken(store: $0.store, number: $0.number)
    } _: { transaction in
      count += Int64(transaction.changes.count)
      guard count <= HistoryFormat.changeLimit else { throw Self.tooMany }
      found.append(transaction)
    }
    return isReversed == nil ? limited(sorted(found)) : found
  }

  /// Whether the wanted order is that of the numbers, and whether it is reversed; nil for any other order. Tokens and
  /// timestamps rise with the numbers.
  private var isReversed: Bool? {
    guard let first = descriptor.sortBy.first else { return false }
    let path = first.keyPath
    guard
      path == \DefaultHistoryTransaction.token
        || path == \DefaultHistoryTransaction.transactionIdentifier
        || path == \DefaultHistoryTransaction.timestamp
    else { return nil }
    return first.order == .reverse
  }

  /// The transactions in the descriptor's order, sorted in memory.
  private func sorted(
    _ transactions: [DefaultHistoryTransaction]
  ) -> [DefaultHistoryTransaction] {
    descriptor.sortBy.isEmpty ? transactions : transactions.sorted(using: descriptor.sortBy)
  }

  /// The first transactions, as many as are wanted.
  private func limited(
    _ transactions: [DefaultHistoryTransaction]
  ) -> [DefaultHistoryTransaction] {
    limit == 0 || transactions.count <= limit ? transactions : Array(transactions.prefix(limit))
  }

  // MARK: - Several stores

  /// The transactions of several stores in the order of their stamps, each with a token that names the last
  /// transaction of every store up to it.
  ///
  /// Invariant: whoever continues from the token of a transaction misses none and gets none twice. So transactions
  /// that the authors or the rest of the predicate exclude are read as well: the tokens after them count them.
  private func merged() throws -> [DefaultHistoryTransaction] {
    let filter = HistoryFilter(descriptor.predicate)
    var rows: [(transaction: DefaultHistoryTransaction, isWanted: Bool)] = []
    // All transactions that the tokens count are needed, though not all are wanted.
    var bounds = filter
    bounds.authors = []
    bounds.rest = nil
    var start: [String: Int64] = [:]
    for store in stores {
      let reader = HistoryReader(store: store, filter: bounds)
      let identifier = store.identity.identifier
      try store.read(.newest) { connection, _ in
        // If a store has no transaction that a token could name, the token must still record how far the history was
        // read.
        let named = filter.lowerBounds.compactMap { $0.token.number(in: identifier) }.max()
        start[identifier] =
          try named ?? (connection.hasHistory() ? connection.lastDeletedTransaction() : 0)
        try reader.forEach(on: connection, .init()) {
          DefaultHistoryToken(store: $0.store, number: $0.number)
        } _: { transaction in
          rows.append((transaction, filter.accepts(author: transaction.author)))
        }
      }
    }
    // Stamps of different stores may be equal; the store's identifier makes the order the same each time.
    rows.sort {
      ($0.transaction.stamp, $0.transaction.storeIdentifier)
        < ($1.transaction.stamp, $1.transaction.storeIdentifier)
    }
    var numbers = start
    let rest = filter.rest.map { PredicateMatcher($0) }
    var result: [DefaultHistoryTransaction] = []
    for (transaction, isWanted) in rows {
      // Before the transaction is skipped: a token counts everything up to it.
      numbers[transaction.storeIdentifier] = transaction.transactionIdentifier
      guard isWanted else { continue }
      let full = transaction.with(DefaultHistoryToken(numbers))
      if let rest, try !rest.matches(full) { continue }
      result.append(full)
    }
    return result
  }

  // MARK: - Deleting

  /// Deletes the transactions. In one store finding and deleting are one transaction; with several stores another
  /// program may commit in between, and what it adds stays.
  func delete() throws {
    if stores.count == 1 {
      return try stores[0].writer.maintain { connection in
        try HistoryRemoval(connection: connection).run {
          // All of them, without reading them.
          if descriptor.predicate == nil, limit == 0 { return nil }
          return try transactions(of: stores[0], connection, limit: limit)
            .map(\.transactionIdentifier)
        }
      }
    }
    if descriptor.predicate == nil, limit == 0 {
      for store in stores {
        try store.writer.maintain { try HistoryRemoval(connection: $0).removeAll() }
      }
      return
    }
    let found = try transactions()
    for store in stores {
      let numbers = found.filter { $0.storeIdentifier == store.identity.identifier }
        .map(\.transactionIdentifier)
      try store.writer.maintain { connection in
        try HistoryRemoval(connection: connection).run { numbers }
      }
    }
  }
}

extension DefaultHistoryTransaction {
  /// The transaction with another token.
  fileprivate func with(_ token: DefaultHistoryToken) -> Self {
    let row = HistoryRow(
      store: storeIdentifier, number: transactionIdentifier, stamp: stamp, author: author,
      program: bundleIdentifier, process: process)
    return Self(row, token, changes)
  }
}

// MARK: - Custom stores

extension CustomStore {
  /// The custom store's transactions that match; nil if its transactions are of another type.
  func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T]? {
    func fetch<S: HistoryProviding>(_ store: S) throws -> [T]? {
      guard let descriptor = descriptor as? HistoryDescriptor<S.HistoryType> else { return nil }
      return try store.fetchHistory(descriptor) as? [T]
    }
    return try mirror.writer.exclusively {
      try (store as? any HistoryProviding).flatMap { try fetch($0) }
    }
  }

  /// Deletes the custom store's transactions that match; false if its transactions are of another type.
  func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Bool {
    func delete<S: HistoryProviding>(_ store: S) throws -> Bool {
      guard let descriptor = descriptor as? HistoryDescriptor<S.HistoryType> else { return false }
      try store.deleteHistory(descriptor)
      return true
    }
    return try mirror.writer.exclusively {
      try (store as? any HistoryProviding).map { try delete($0) } ?? false
    }
  }
}
