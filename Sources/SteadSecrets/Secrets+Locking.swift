extension Secrets {
  /// Whether secrets can be read and stored now.
  ///
  /// - Throws: ``SecretError``: `.unavailable` when the store cannot be reached.
  public func state() throws(SecretError) -> SecretStoreState {
    try naming(nil) { () throws(SecretError) in try store.state() }
  }

  /// Asks the person to unlock the store, and waits for that; returns immediately when it is open.
  ///
  /// - Parameter timeout: The longest time to wait for the person.
  /// - Throws: ``SecretError``: `.cancelled` when the person or the task cancelled it, `.interactionRequired`
  ///   when nobody can be asked, `.unavailable` after the timeout, `.unsupported` from a store without a
  ///   lock.
  public func unlock(timeout: Duration = .seconds(120)) async throws(SecretError) {
    do throws(SecretError) {
      try await store.unlock(timeout: timeout)
    } catch {
      try naming(nil) { () throws(SecretError) in throw error }
    }
  }

  /// Locks the store, for all programs that use it.
  ///
  /// - Throws: ``SecretError``: `.unsupported` from a store without a lock.
  public func lock() throws(SecretError) {
    try naming(nil) { () throws(SecretError) in try store.lock() }
  }
}
