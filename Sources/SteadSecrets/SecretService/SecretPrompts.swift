/// Whether a call may ask a person for something.
public enum SecretPrompts: Hashable, Sendable {
  /// A call that would need a prompt throws instead.
  case never
  /// A call may show prompts, to unlock a collection or to allow a change, and waits for each for as
  /// long as the timeout.
  case allowed(timeout: Duration)
}
