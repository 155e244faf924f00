#if Server
  import Dispatch
  import Synchronization

  /// Runs a task and its children, and calls a closure before one of their steps: a step ends where a task waits.
  final class StepExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "steps")
    private let steps = Atomic(0)
    private let number: Int
    private let action: Mutex<(@Sendable () -> Void)?>

    /// - Parameters:
    ///   - number: The step before which the closure is called; the first has the number 1.
    init(before number: Int, _ action: @escaping @Sendable () -> Void) {
      self.number = number
      self.action = Mutex(action)
    }

    /// Whether there was such a step.
    var isReached: Bool { steps.load(ordering: .relaxed) >= number }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async {
        if self.steps.wrappingAdd(1, ordering: .relaxed).newValue == self.number {
          self.action.withLock { $0 }?()
          self.action.withLock { $0 = nil }
        }
        job.runSynchronously(on: self.asUnownedTaskExecutor())
      }
    }
  }
#endif
