import Dispatch

/// An actor with its own context.
///
/// `@ModelActor` generates the requirements and an initializer.
///
/// ```swift
/// @ModelActor actor Importer {
///   func add(_ name: String) throws -> PersistentIdentifier {
///     let trip = Trip(name: name)
///     modelContext.insert(trip)
///     try modelContext.save()
///     return trip.persistentModelID
///   }
/// }
/// let id = try await Importer(modelContainer: container).add("Lakes")
/// ```
///
/// The actor runs on a queue of its own, so its fetches and saves do not block the main actor. Between its turns it
/// applies other contexts' commits. Pass identifiers in and out, not models.
public protocol ModelActor: Actor {
  /// The container of the actor's context.
  nonisolated var modelContainer: ModelContainer { get }
  /// The executor that the actor runs on, which has the context.
  nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
  /// The actor's context, for use in the actor alone.
  ///
  /// ``ModelContext/autosaveEnabled`` is false; if you set it, the context saves at the end of the actor's turns.
  public var modelContext: ModelContext { modelExecutor.modelContext }

  /// The executor of ``modelExecutor`` if that is serial; otherwise the main actor's.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    if let executor = modelExecutor as? any SerialExecutor {
      return executor.asUnownedSerialExecutor()
    }
    return MainActor.sharedUnownedExecutor
  }

  /// The object with an identifier in the actor's context; nil if it has no row or is of another type.
  ///
  /// ```swift
  /// self[id, as: Trip.self]?.visits += 1
  /// ```
  ///
  /// Reads the store if the object is not loaded. An error of reading is reported to `Stead.onProblem`.
  public subscript<T: PersistentModel>(id: PersistentIdentifier, as type: T.Type) -> T? {
    let model = modelContext.model(for: id)
    // For an identifier without a row, `model(for:)` gives an object without a context.
    return model.modelContext == nil ? nil : model as? T
  }
}

/// An executor with a context: what a ``ModelActor`` runs on.
///
/// An executor of your own also conforms to ``SerialModelExecutor``; otherwise the actor runs on the main actor's.
public protocol ModelExecutor: Executor {
  /// The context, which the executor's jobs use.
  var modelContext: ModelContext { get }
}

/// An executor with a context that runs one job at a time, as a context needs it: two jobs must not use it at once.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}

// MARK: - The executor

/// Runs an actor's jobs one at a time on its own queue, never on the main thread.
///
/// `@ModelActor` makes one. For an actor with an initializer of your own:
///
/// ```swift
/// init(container: ModelContainer, source: URL) {
///   modelContainer = container
///   modelExecutor = DefaultSerialModelExecutor(modelContext: ModelContext(container))
///   self.source = source
/// }
/// ```
public final class DefaultSerialModelExecutor: SerialModelExecutor, @unchecked Sendable {
  // Sendable: the context is used by jobs alone, which run one at a time on `queue`.
  /// The context, which belongs to the executor from now on.
  public let modelContext: ModelContext
  private let queue = DispatchQueue(label: "stead.model-actor")

  /// Creates an executor of a context that nothing else uses.
  ///
  /// The context takes its turns on the executor's queue: it applies other contexts' commits there, and autosaves if
  /// that is on.
  public init(modelContext: ModelContext) {
    self.modelContext = modelContext
    // Only enqueued: the thread that commits calls this, and may hold the locks of other stores.
    modelContext.setTurn { [queue] turn in queue.async { turn.runHere() } }
  }

  /// Runs a job on the executor's queue, after those before it. Called by the runtime.
  public func enqueue(_ job: consuming ExecutorJob) {
    // An `ExecutorJob` cannot be copied, and an escaping closure cannot consume one that it captures.
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    queue.async { job.runSynchronously(on: executor) }
  }

  /// The executor as the runtime refers to it.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }
}
