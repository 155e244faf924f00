extension TestedStore {
  static let vaults: [TestedStore] = []
}
