import SteadSecrets

extension TestedStore {
  /// Stores at automatic places, with and without a desktop; each as its service's record leads to it.
  static let automatic: [TestedStore] =
    [automatic("automatic, without a desktop") { try Home() }]
    + (KeyringSession.isAvailable
      ? [
        automatic("automatic, with a keyring", timeResolution: 1) { Home(try KeyringSession()) }
      ] : [])

  private static func automatic(
    _ name: String, timeResolution: Double = 0.001, home: @escaping @Sendable () throws -> Home
  ) -> TestedStore {
    TestedStore(name: name, timeResolution: timeResolution) {
      let home = try home()
      return { try home.secrets().store }
    }
  }
}
