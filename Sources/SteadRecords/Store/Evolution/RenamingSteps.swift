/// The order in which names of one place can be changed, one at a time, without two ever being the same.
struct RenamingSteps {
  struct Step: Equatable {
    let from: String
    let to: String
  }

  let steps: [Step]

  /// - Parameter names: The new name of each, by its old one, those that stay included.
  init(_ names: [String: String]) {
    let changed = names.filter { $0.key != $0.value }.sorted { $0.key < $1.key }
    // SQLite does not tell upper from lower case.
    let before = Set(changed.map { $0.key.lowercased() })
    guard changed.contains(where: { before.contains($0.value.lowercased()) }) else {
      steps = changed.map { Step(from: $0.key, to: $0.value) }
      return
    }
    let between = changed.indices.map { "stead_renamed_\($0)" }
    steps =
      zip(changed, between).map { Step(from: $0.key, to: $1) }
      + zip(changed, between).map { Step(from: $1, to: $0.value) }
  }
}
