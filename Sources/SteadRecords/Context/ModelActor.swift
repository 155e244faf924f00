import Dispatch

/// An actor with its own context.
///
/// `@ModelActor` generates the requirements and an initializer.
public protocol ModelActor: Actor {
  nonisolated var modelContainer: ModelContainer { get }
  nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
  /// The actor's context.
  public var modelContext: ModelContext { modelExecutor.modelContext }

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    if let executor = modelExecutor as? any SerialExecutor {
      return executor.asUnownedSerialExecutor()
    }
    return MainActor.sharedUnownedExecutor
  }

  /// The object with an identifier in the actor's context; nil if it has no row or is of another type.
  public subscript<T: PersistentModel>(id: PersistentIdentifier, as type: T.Type) -> T? {
    let model = modelContext.model(for: id)
    return model.modelContext == nil ? nil : model as? T
  }
}

/// An executor with a context.
public protocol ModelExecutor: Executor {
  var modelContext: ModelContext { get }
}

/// An executor with a context that runs one job at a time.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}

// MARK: - The executor

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
