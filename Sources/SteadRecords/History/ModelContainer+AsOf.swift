import Foundation

extension ModelContainer {
  /// A container with what the stores had after a transaction, which cannot be saved to.
  ///
  /// Its objects have the identifiers that they had, and its history ends with the transaction. It is a copy in a
  /// temporary directory, which is removed with the container: it costs a reading and a writing of the whole stores, and
  /// a deletion or an insert for each row that was changed since. Files of external storage are the store's own. Ephemeral
  /// attributes may be those of a later moment.
  ///
  /// Throws `oldValuesMissing` unless the stores keep old values, `historyTokenExpired` when these begin after the
  /// transaction, `invalidTransactionFetchRequest` for a token of other stores, and what copying a file throws.
  public func asOf(_ token: DefaultHistoryToken) throws -> ModelContainer {
    let past = try PastStores()
    let copies = try stores.enumerated().map { place, store in
      guard let number = token.number(in: store.identity.identifier) else {
        throw SwiftDataError(
          .invalidTransactionFetchRequest,
          "The token does not name the store \(store.configuration.name). Use one of a transaction of this container."
        )
      }
      let url = past.directory.appending(path: "\(place).store")
      try store.copy(to: url, asOf: number)
      return ModelConfiguration(
        store.configuration.name, schema: store.configuration.schema, url: url, allowsSave: false)
    }
    return try ModelContainer(
      for: schema, migrationPlan: nil, configurations: copies, past: past
    ) { _ in nil }
  }
}
