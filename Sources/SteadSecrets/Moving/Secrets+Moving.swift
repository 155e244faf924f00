public import Foundation

extension Secrets {
  /// Moves all secrets of the service to another location, and returns them there.
  ///
  /// Each is copied with its label and attributes and read back. Then the record is updated, if this is an
  /// automatic location, and only then are they removed from the old location. The new store sets its own
  /// dates.
  ///
  /// If it throws, or the process ends, no secret is lost: each is in the old location or in the new one, and
  /// the same call again finishes the move. With automatic locations, other running processes can still read,
  /// wait with their writes, and continue at the new location; with named locations, you have to make sure
  /// that nothing is written at the old one. `.automatic` means the location that a service without secrets
  /// would get now. After a move to a store that the caller created, or to a vault with a key other than the
  /// default one, only the caller can open it, and automatic locations report that.
  ///
  /// The stores are called on the task's thread, one call after the other.
  ///
  /// - Parameters:
  ///   - location: Where to store the secrets.
  ///   - isReplacing: Whether to replace other secrets of the same names there; otherwise they are an error.
  ///   - accepted: The old store's features that the new one may lack.
  ///   - environment: The process's environment, or a test's substitute; an automatic location uses its own.
  ///   - timeout: How long the Secret Service may take to answer a call; an automatic location uses its own.
  ///   - progress: Called after each step, on the same thread. It may read secrets of automatic locations,
  ///     but must not write any: writers wait for the end of the move.
  /// - Throws: ``SecretError``: `.duplicateItem` when the new store contains another secret of a name, and
  ///   nothing was copied, or when both locations are the same store; `.unsupported` when the new store lacks
  ///   a feature that isn't accepted; `.changed` when another program changed a secret at the old location,
  ///   which is still there; `.cancelled` when the task was cancelled; and what the stores throw.
  @discardableResult
  public func move(
    to location: SecretStoreLocation, replacing isReplacing: Bool = false,
    accepting accepted: Set<SecretStoreFeature> = [],
    environment: [String: String] = ProcessInfo.processInfo.environment,
    timeout: Duration = .seconds(5),
    progress: @escaping @Sendable (SecretMoveProgress) -> Void = { _ in }
  ) async throws(SecretError) -> Secrets {
    let options = SecretMove.Options(
      isReplacing: isReplacing, accepted: accepted, progress: progress)
    if let chosen = store as? ChosenStore {
      try await chosen.move(to: location, options)
      return self
    }
    let opener = try StoreOpener(service: service, environment: environment, timeout: timeout)
    let destination = try location.open(opener, isReturn: true)
    let move = options.move(service, from: store, to: destination)
    try naming(nil) { () throws(SecretError) in
      try move.copy()
      try move.removeFromSource()
    }
    return try Secrets(service: service, store: destination)
  }
}
