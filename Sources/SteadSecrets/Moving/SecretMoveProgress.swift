/// How far a move of secrets has come.
public struct SecretMoveProgress: Hashable, Sendable {
  /// What a move does, one after the other.
  public enum Step: Hashable, Sendable, CaseIterable {
    /// Secrets are put into the new store, and read back.
    case copying
    /// The new store is the one from now on.
    case recorded
    /// Secrets are removed from the old store.
    case removing
  }

  /// What is being done.
  public var step: Step
  /// How many secrets the step is done with.
  public var completed: Int
  /// How many secrets there are.
  public var total: Int

  /// How far a move has come; moves make these.
  public init(step: Step, completed: Int, total: Int) {
    self.step = step
    self.completed = completed
    self.total = total
  }
}
