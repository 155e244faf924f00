/// The changes of a typed key's value as an asynchronous sequence; see ``PreferenceChanges`` for what a slow
/// consumer gets, and when it ends.
public struct TypedPreferenceChanges<Value: Sendable>: AsyncSequence, Sendable {
  /// A change with the value before it.
  public typealias Element = PreferenceChange<Value>
  /// It cannot fail.
  public typealias Failure = Never

  let stored: PreferenceChanges
  let decoder: ChangeDecoder<Value>

  /// An iterator.
  public func makeAsyncIterator() -> Iterator {
    Iterator(stored: stored.makeAsyncIterator(), decoder: decoder)
  }

  /// Returns changes as they occur.
  public struct Iterator: AsyncIteratorProtocol {
    var stored: PreferenceChanges.Iterator
    let decoder: ChangeDecoder<Value>

    /// The next change; nil once the task was cancelled.
    public mutating func next() async -> Element? { await next(isolation: #isolation) }

    /// The next change; nil once the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await stored.next(isolation: actor).map(decoder.decode)
    }
  }
}
