import SteadSecrets

extension TestedStore {
  static let inMemory = TestedStore(name: "in memory") {
    let store = InMemorySecretStore()
    return { store }
  }
}
