import Foundation

extension SecretService {
  /// The label of a default collection that `unlock` creates.
  static let newLabel = "Default keyring"

  /// Whether the collection is open, locked, or missing.
  ///
  /// - Throws: ``SecretError``: `.unavailable` when the service cannot be reached.
  public func state() throws(SecretError) -> SecretStoreState {
    do throws(SecretError) {
      return try perform { call throws(SecretError) in
        try call.askForPath()
        return try call.isLocked
      } ? .locked : .ready
    } catch  where error.code == .notInitialized {
      return .notInitialized
    }
  }

  /// Asks the user to unlock the collection, regardless of ``prompts``, and waits for that.
  ///
  /// If no default collection exists, the user is asked for the password of a new one. The task's
  /// cancellation dismisses the prompt. The wait takes place on a separate thread.
  ///
  /// - Throws: ``SecretError``: `.cancelled` when the user dismissed the prompt or the task was cancelled,
  ///   `.interactionRequired` when nothing here can show a prompt, `.unavailable` after the timeout,
  ///   `.notInitialized` when a named collection does not exist, `.unsupported` for the session's collection.
  public func unlock(timeout: Duration) async throws(SecretError) {
    try checkHasLock()
    let cancellation = ServiceCall.Cancellation()
    let outcome: Result<Void, SecretError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          let outcome = Result { () throws(SecretError) in
            try self.unlock(until: Deadline(in: timeout), cancellation)
          }
          continuation.resume(returning: outcome)
        }
      }
    } onCancel: {
      cancellation.cancel()
    }
    try outcome.get()
  }

  /// Locks the collection, for all programs that use it.
  ///
  /// - Throws: ``SecretError``: `.notInitialized`, `.unavailable`, `.interactionRequired`, or
  ///   `.unsupported` for the session's collection.
  public func lock() throws(SecretError) {
    try checkHasLock()
    try perform { call throws(SecretError) in
      let reply = try call.call(
        ServiceName.path, ServiceName.service, "Lock", [.paths([call.askForPath()])])
      try call.finish(prompt: call.need(reply[1]?.string))
    }
  }

  /// Unlocks the collection, with a prompt if necessary.
  func unlock(until deadline: Deadline, _ cancellation: ServiceCall.Cancellation)
    throws(SecretError)
  {
    try perform { call throws(SecretError) in
      if cancellation.isCancelled { throw SecretError(BusFailure(.cancelled)) }
      do throws(SecretError) {
        let reply = try call.call(
          ServiceName.path, ServiceName.service, "Unlock", [.paths([call.askForPath()])])
        try call.run(prompt: call.need(reply[1]?.string), until: deadline, cancellation)
      } catch  where error.code == .notInitialized && collection == .default {
        let reply = try call.call(
          ServiceName.path, ServiceName.service, "CreateCollection",
          [
            .properties(["\(ServiceName.collection).Label": .string(Self.newLabel)]),
            .string("\(collection)"),
          ])
        try call.run(prompt: call.need(reply[1]?.string), until: deadline, cancellation)
      }
    }
  }

  private func checkHasLock() throws(SecretError) {
    guard features.contains(.locking) else {
      throw SecretError(
        code: .unsupported,
        message: "The session's collection has no lock. Use it as it is.", feature: .locking)
    }
  }
}
