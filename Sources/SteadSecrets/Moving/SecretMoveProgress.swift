/// How far a move of secrets has come.
public struct SecretMoveProgress: Hashable, Sendable {
  /// The steps of a move, in order.
  public enum Step: Hashable, Sendable, CaseIterable {
    /// Secrets are written to the new store, and read back.
    case copying
    /// The new store is in use from now on.
    case recorded
    /// Secrets are removed from the old store.
    case removing
  }

  /// The current step.
  public var step: Step
  /// The number of secrets that the step has completed.
  public var completed: Int
  /// The total number of secrets.
  public var total: Int

  /// Makes a progress value; moves do this.
  public init(step: Step, completed: Int, total: Int) {
    self.step = step
    self.completed = completed
    self.total = total
  }
}
