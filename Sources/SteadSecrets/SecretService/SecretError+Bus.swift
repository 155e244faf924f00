extension SecretError {
  /// What failed on the bus underneath, if that was it.
  var busKind: BusFailure.Kind? { (cause as? BusFailure)?.kind }

  /// The error for a caller who knows nothing of the bus.
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
        "The Secret Service went away during the call. Try again, which connects anew."
      )
    case .timedOut:
      (
        .unavailable,
        "The Secret Service did not answer in time. Try again, or see whether it hangs."
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
        "There is no message bus for this session. Log in to a desktop, set "
          + "DBUS_SESSION_BUS_ADDRESS, or choose the vault."
      )
    case .locked:
      (
        .locked,
        "The collection is locked, so nothing is known of its items. Unlock it by unlock(), or at the "
          + "desktop."
      )
    case .denied:
      (
        .accessDenied,
        "The message bus or the Secret Service forbids the call. Look at the sandbox's permissions."
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
        "The message bus does not take a message of this size. Keep a key as the secret."
      )
    case .malformed:
      (
        .corrupt,
        "The Secret Service's answer is not of the form that its specification gives. Report it to "
          + "the service's makers."
      )
    case .noObject:
      (.failed, "What was found in the Secret Service was gone a moment later. Try again.")
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

  /// The collection is not there.
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
