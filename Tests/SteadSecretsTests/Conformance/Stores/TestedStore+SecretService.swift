extension TestedStore {
  static let secretServices: [TestedStore] = []
}
