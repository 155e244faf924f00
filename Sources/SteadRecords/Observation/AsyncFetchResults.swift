/// The results of a fetch, delivered again after each change.
public struct AsyncFetchResults<Element: PersistentModel, SectionName: Hashable>: AsyncSequence {
  let observer: ResultsObserver<Element, SectionName>

  public typealias Failure = Never

  public struct AsyncIterator: AsyncIteratorProtocol {
    public typealias Failure = Never

    // Keeps the observer alive; without it the signals would end.
    let observer: ResultsObserver<Element, SectionName>
    var signals: AsyncStream<Void>.Iterator

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> FetchResultsCollection<Element>? {
      await signals.next(isolation: actor).map { observer.results }
    }
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(observer: observer, signals: observer.signals().makeAsyncIterator())
  }
}

extension ModelContext {
  /// The results of a fetch as an asynchronous sequence: now, and after each change.
  ///
  /// Ends when its task is cancelled. The objects belong to this context, so iterate where the context is used.
  @_disfavoredOverload
  public func updates<T: PersistentModel>(
    of descriptor: FetchDescriptor<T>, isolation: (any Actor)? = #isolation
  ) -> AsyncFetchResults<T, Never> {
    ResultsObserver(fetchDescriptor: descriptor, modelContext: self, isolation: isolation).updates
  }
}
