import SteadSecrets
import SteadSecretsTesting

extension TestedStore {
  static let plaintext = TestedStore(name: "plaintext") {
    let directory = try TemporaryDirectory(inMemory: true)
    return { PlaintextTestStore(at: directory.file("secrets.json")) }
  }
}
