import Dispatch

/// Runs an actor's jobs one at a time on its own queue, never on the main thread.
public final class DefaultSerialModelExecutor: SerialModelExecutor, @unchecked Sendable {
  // Sendable: the context is used by jobs alone, which run one at a time on `queue`.
  public let modelContext: ModelContext
  private let queue = DispatchQueue(label: "stead.model-actor")

  public init(modelContext: ModelContext) {
    self.modelContext = modelContext
    modelContext.setTurn { [queue] turn in queue.async { turn.runHere() } }
  }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    queue.async { job.runSynchronously(on: executor) }
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }
}
