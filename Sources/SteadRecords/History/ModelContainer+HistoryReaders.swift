extension ModelContainer {
  /// The places of the named readers in the history.
  ///
  /// Throws what reading the stores throws.
  public var historyReaders: [String: DefaultHistoryToken] {
    get throws {
      var numbers: [String: [String: Int64]] = [:]
      for store in ownStores {
        let readers = try store.read(.newest) { connection, _ in
          try HistoryTrimming(connection: connection, limits: .none).readers()
        }
        for (name, number) in readers {
          numbers[name, default: [:]][store.identity.identifier] = number
        }
      }
      return numbers.mapValues { DefaultHistoryToken($0) }
    }
  }

  /// Keeps the history after a token until a named reader has handled more of it.
  ///
  /// The name and the place are stored in the stores, so that any program that trims the history respects them. Call it
  /// with each token that the reader has handled: a reader that never returns keeps the history forever, unless
  /// `HistoryLimits.unreadTransactions` is set. `deleteHistory` ignores readers. Costs a commit in each store.
  ///
  /// - Parameters:
  ///   - name: The reader's name, such as `sync`.
  ///   - token: What it has handled, of the stores in the token; nil for nothing.
  public func setHistoryReader(_ name: String, at token: DefaultHistoryToken?) throws {
    for store in ownStores {
      let place = token.map { $0.number(in: store.identity.identifier) } ?? 0
      // The token of a save names the stores that it wrote to; the others' places stay.
      guard let number = place else { continue }
      try store.maintain {
        try HistoryTrimming(connection: $0, limits: .none).setReader(name, to: number)
      }
    }
  }

  /// Forgets a reader; the history is no longer kept for it.
  public func removeHistoryReader(_ name: String) throws {
    for store in ownStores {
      try store.maintain {
        try HistoryTrimming(connection: $0, limits: .none).removeReader(name)
      }
    }
  }

  /// Removes the history that the configurations' limits do not keep, now.
  ///
  /// Tokens before the removed part expire. Without limits nothing is removed. Throws `readOnlyStore` for a store that
  /// cannot be written.
  public func trimHistory() throws {
    for store in ownStores { try store.trimHistory() }
  }
}
