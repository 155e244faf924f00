public import Foundation

extension Secrets {
  /// Moves all secrets of the service to another place, and returns them there.
  ///
  /// Each is copied with its label and attributes and read back. Then the record is changed, where this
  /// is an automatic place, and only then are they removed from the old place. The new store sets
  /// its own dates.
  ///
  /// When it throws, or the process ends, no secret is lost: each is in the old place or in the new
  /// one, and the same call again finishes the move. With automatic places, processes that run meanwhile
  /// read on, wait with their writes, and go on at the new place; with named places, see to it
  /// yourself that nothing is written at the old one. `.automatic` means the place that a service without
  /// secrets would get now. After a move to a store of the caller's, or to a vault by a key that is not
  /// the usual one, only the caller can open it, and automatic places say so.
  ///
  /// The calls of the stores are made on the task's thread, one after the other.
  ///
  /// - Parameters:
  ///   - location: Where the secrets are to be.
  ///   - isReplacing: Whether other secrets of the same names there are replaced; else they are an error.
  ///   - accepted: What the new store may lack of what the old one can do.
  ///   - environment: The process's environment, or what a test wants it to be; an automatic place goes
  ///     by its own.
  ///   - timeout: How long the Secret Service may take to answer a call; likewise.
  ///   - progress: Called after each step, on the same thread. It may read secrets of automatic places,
  ///     and must not write any: writers wait for the end of the move.
  /// - Throws: ``SecretError``: `.duplicateItem` when the new store holds another secret of a name, and
  ///   nothing was copied, or when both places are the same store; `.unsupported` when the new store
  ///   lacks something that is not accepted; `.changed` when another program changed a secret at the old
  ///   place, which is still there; `.cancelled` when the task was cancelled; and what the stores throw.
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
