import Foundation
import SteadFiles

extension ModelContainer {
  /// A read-only container with the stores' contents after a transaction.
  ///
  /// Its objects have the identifiers that they had, and its history ends with the transaction. It is a copy in a
  /// temporary directory, which is removed with the container, or when the process ends. It costs a read and a write of the whole stores, and a
  /// deletion or an insert for each row that was changed since. Files of external storage are the store's own.
  /// Ephemeral attributes may have later values.
  ///
  /// Throws `oldValuesMissing` unless all stores keep old values, which custom ones do not; `historyTokenExpired` if
  /// the old values begin after the transaction; `invalidTransactionFetchRequest` for a token of other stores; and what
  /// copying a file throws.
  public func asOf(_ token: DefaultHistoryToken) throws -> ModelContainer {
    guard customStores.isEmpty else {
      throw SwiftDataError(
        .oldValuesMissing,
        "The container has a custom store, which keeps no old values. Open the other stores in a container of their own."
      )
    }
    let past = try ScratchDirectory(prefix: StoreReading.directoryPrefix)
    let copies = try stores.enumerated().map { place, store in
      let number = try number(of: token, in: store)
      let url = past.url.appending(path: "\(place).store")
      try store.copy(to: url, asOf: number)
      return ModelConfiguration(
        store.configuration.name, schema: store.configuration.schema, url: url, allowsSave: false)
    }
    return try ModelContainer(
      for: schema, migrationPlan: nil, configurations: copies, isCurrent: false, past: past
    ) { _ in nil }
  }

  /// Restores all stores, except custom ones, to their state after a transaction, and returns the place of the
  /// restoration in the history.
  ///
  /// The restoration is a transaction in each store, so it can be undone as well. Objects that were deleted since exist
  /// again with their identifiers; those that were inserted since are gone. Contexts see it as a save of another
  /// context. To undo the last transaction, restore to the token of the one before it.
  ///
  /// Costs a write for each row that was changed since, ten times one of a save, and a look at the names of all large
  /// values. Several stores are written one after the other; if one throws, those before it are restored.
  ///
  /// - Parameters:
  ///   - token: The place in the history to go back to.
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
    let numbers = try stores.map { try number(of: token, in: $0) }
    var result: [String: Int64] = [:]
    for (store, number) in zip(stores, numbers) {
      result[store.identity.identifier] = try store.restore(to: number, author: author)
    }
    return DefaultHistoryToken(result)
  }

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
