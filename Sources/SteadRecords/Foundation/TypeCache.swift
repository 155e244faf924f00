import Synchronization

/// Answers about types, each found out once.
final class TypeCache<Answer: Sendable>: Sendable {
  private let answers = Mutex<[ObjectIdentifier: Answer]>([:])

  func value(for type: ObjectIdentifier, _ find: () -> Answer) -> Answer {
    if let answer = answers.withLock({ $0[type] }) { return answer }
    let answer = find()
    answers.withLock { $0[type] = answer }
    return answer
  }
}

#if STEAD_THREAD_SANITIZER
  import SteadFiles

  /// In all files of the module.
  typealias Mutex<Value> = SanitizedMutex<Value>
#endif
