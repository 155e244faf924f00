extension SecretError {
  /// The underlying failure on the bus, if any.
  var busKind: BusFailure.Kind? { (cause as? BusFailure)?.kind }

  /// The error for a caller who knows nothing about the bus.
  init(_ failure: BusFailure) {
    let (code, message) = Self.description(of: failure.kind)
    self.init(
      code: code, message: message, unavailability: Self.unavailability(failure.kind),
      cause: failure)
  }

  private static func description(of kind: BusFailure.Kind) -> (Code, String) {
    switch kind {
    case .gone, .disconnected:
      (
        .unavailable,
        "The Secret Service disconnected during the call. Try again to reconnect."
      )
    case .timedOut:
      (
        .unavailable,
        "The Secret Service did not answer in time. Try again, or check whether it hangs."
      )
    case .noService:
      (
        .unavailable,
        "No program offers the Secret Service. Install gnome-keyring or another one, or choose the "
          + "vault."
      )
    case .noBus:
      (
        .unavailable,
        "This session has no message bus. Log in to a desktop, set "
          + "DBUS_SESSION_BUS_ADDRESS, or choose the vault."
      )
    case .locked:
      (
        .locked,
        "The collection is locked, so nothing is known about its items. Unlock it with "
          + "unlock(), or at the "
          + "desktop."
      )
    case .denied:
      (
        .accessDenied,
        "The message bus or the Secret Service denies the call. Check the sandbox's permissions."
      )
    case .cancelled: (.cancelled, "The prompt was dismissed, or the task cancelled.")
    case .promptNeeded:
      (
        .interactionRequired,
        "The Secret Service wants to ask the user, and prompts are not allowed or cannot be shown. "
          + "Allow prompts, or call unlock()."
      )
    case .tooLarge:
      (
        .tooLarge,
        "The message is too large for the message bus. Keep a key as the secret."
      )
    case .malformed:
      (
        .corrupt,
        "The Secret Service's answer does not follow its specification. Report it to "
          + "the service's makers."
      )
    case .noObject:
      (.failed, "An item of the Secret Service was removed during the call. Try again.")
    case .other: (.failed, "The Secret Service refused the call; see the cause.")
    }
  }

  private static func unavailability(_ kind: BusFailure.Kind) -> Unavailability? {
    switch kind {
    case .gone, .disconnected: .disconnected
    case .timedOut: .timedOut
    case .noService: .noService
    case .noBus: .noBus
    default: nil
    }
  }

  /// The error for a missing collection.
  static func notInitialized(_ collection: SecretService.Collection, _ cause: BusFailure?)
    -> SecretError
  {
    SecretError(
      code: .notInitialized,
      message:
        "The Secret Service has no collection \("\(collection)".quoted). Make it with the "
        + "desktop's password program; unlock() makes the default one.", cause: cause)
  }
}
