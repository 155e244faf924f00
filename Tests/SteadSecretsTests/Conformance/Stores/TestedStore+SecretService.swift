import SteadSecrets

extension TestedStore {
  // None where no keyring can be started; KeyringSession.missing says why.
  static let secretServices: [TestedStore] =
    KeyringSession.isAvailable
    ? [
      secretService("Secret Service", .default), secretService("Secret Service, session", .session),
    ]
    : []

  private static func secretService(
    _ name: String, _ collection: SecretService.Collection
  ) -> TestedStore {
    TestedStore(name: name, timeResolution: 1) {
      let session = try KeyringSession()
      return {
        // More than a user would wait, for a machine that runs many tests at once.
        SecretService(
          collection: collection, timeout: .seconds(120), environment: session.environment)
      }
    }
  }
}
