/// The results of a fetch as an asynchronous sequence: now, and after each change.
///
/// If changes arrive faster than they are consumed, only the newest results are delivered.
public struct AsyncFetchResults<Element: PersistentModel, SectionName: Hashable>: AsyncSequence {
  let observer: ResultsObserver<Element, SectionName>

  public typealias Failure = Never

  /// Delivers the results. It keeps the observer alive.
  public struct AsyncIterator: AsyncIteratorProtocol {
    /// A fetch that fails delivers nothing.
    public typealias Failure = Never

    // Keeps the observer alive; without it the signals would end.
    let observer: ResultsObserver<Element, SectionName>
    var signals: AsyncStream<Void>.Iterator

    /// The results at the next change; nil once the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> FetchResultsCollection<Element>? {
      // The results as of now, not as of the signal: what came in between is in them.
      await signals.next(isolation: actor).map { observer.results }
    }
  }

  /// An iterator that delivers the present results first.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(observer: observer, signals: observer.signals().makeAsyncIterator())
  }
}

extension ModelContext {
  /// The results of a fetch as an asynchronous sequence: now, and after each change.
  ///
  /// ```swift
  /// for await tasks in context.updates(of: FetchDescriptor<Task>(sortBy: [SortDescriptor(\.due)])) {
  ///   show(tasks)
  /// }
  /// ```
  ///
  /// Ends when its task is cancelled. The objects belong to this context, so iterate where the context is used. Costs a
  /// fetch now and one for each change that concerns the models; a fetch that fails delivers nothing, so use a
  /// ``ResultsObserver`` to see its error.
  @_disfavoredOverload
  public func updates<T: PersistentModel>(
    of descriptor: FetchDescriptor<T>, isolation: (any Actor)? = #isolation
  ) -> AsyncFetchResults<T, Never> {
    ResultsObserver(fetchDescriptor: descriptor, modelContext: self, isolation: isolation).updates
  }
}
