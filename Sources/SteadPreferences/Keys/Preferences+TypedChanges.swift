extension Preferences {
  /// Calls a handler with each change of a typed key's value, as
  /// ``observe(_:includingOwn:_:)-(String,_,_)`` does with what is stored.
  ///
  /// A value that does not decode is told as the default, and reported. A value under an old name of the
  /// key is moved first, and told when it comes under the key's own.
  ///
  /// ```swift
  /// let token = preferences.observe(\.theme) { change in redraw(change.new) }
  /// ```
  ///
  /// - Returns: What keeps the observation going; keep it.
  public func observe<Value: Sendable>(
    _ path: KeyPath<Keys, Key<Value>>, includingOwn: Bool = true,
    _ handler: @escaping @Sendable (PreferenceChange<Value>) -> Void
  ) -> PreferenceObservation {
    observe(Keys()[keyPath: path], includingOwn: includingOwn, handler)
  }

  /// Calls a handler with each change of a typed key's value.
  public func observe<Value: Sendable>(
    _ key: Key<Value>, includingOwn: Bool = true,
    _ handler: @escaping @Sendable (PreferenceChange<Value>) -> Void
  ) -> PreferenceObservation {
    adoptOldNames(of: key)
    let decoder = ChangeDecoder(key: key, preferences: self)
    return observe(key.name, includingOwn: includingOwn) { change in
      handler(decoder.decode(change))
    }
  }

  /// The changes of a typed key's value, to be awaited; they are followed from this call on.
  ///
  /// ```swift
  /// for await change in preferences.changes(for: \.theme) { redraw(change.new) }
  /// ```
  public func changes<Value: Sendable>(
    for path: KeyPath<Keys, Key<Value>>, includingOwn: Bool = true
  ) -> TypedPreferenceChanges<Value> {
    changes(for: Keys()[keyPath: path], includingOwn: includingOwn)
  }

  /// The changes of a typed key's value, to be awaited; they are followed from this call on.
  public func changes<Value: Sendable>(
    for key: Key<Value>, includingOwn: Bool = true
  ) -> TypedPreferenceChanges<Value> {
    adoptOldNames(of: key)
    return TypedPreferenceChanges(
      stored: changes(for: key.name, includingOwn: includingOwn),
      decoder: ChangeDecoder(key: key, preferences: self))
  }
}

/// The changes of a typed key's value, one after the other; see ``PreferenceChanges`` for what a slow
/// consumer gets, and when they end.
public struct TypedPreferenceChanges<Value: Sendable>: AsyncSequence, Sendable {
  /// A change and what the value was before.
  public typealias Element = PreferenceChange<Value>
  /// It cannot fail.
  public typealias Failure = Never

  let stored: PreferenceChanges
  let decoder: ChangeDecoder<Value>

  /// An iterator.
  public func makeAsyncIterator() -> Iterator {
    Iterator(stored: stored.makeAsyncIterator(), decoder: decoder)
  }

  /// Gives changes as they come.
  public struct Iterator: AsyncIteratorProtocol {
    var stored: PreferenceChanges.Iterator
    let decoder: ChangeDecoder<Value>

    /// The next change, nil once the task was cancelled.
    public mutating func next() async -> Element? { await next(isolation: #isolation) }

    /// The next change, nil once the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await stored.next(isolation: actor).map(decoder.decode)
    }
  }
}

/// Makes typed changes of stored ones, as reads of the key would.
struct ChangeDecoder<Value: Sendable>: Sendable {
  private let read: @Sendable (PropertyList?) -> Value

  init(key: Preferences.Key<Value>, preferences: Preferences) {
    // What observes is kept by what it observes, and must not keep that in turn.
    read = { [weak preferences] stored in
      guard let stored else { return key.defaultValue }
      do {
        return try key.read(stored).value
      } catch {
        preferences?.reportUndecodable(error, forKey: key.name)
        return key.defaultValue
      }
    }
  }

  /// The changes of what is `initial` while nothing is stored.
  init(_ decoder: ChangeDecoder<Value?>, initial: Value) {
    read = { stored in decoder.read(stored) ?? initial }
  }

  func decode(_ change: PreferenceChange<PropertyList?>) -> PreferenceChange<Value> {
    change.map(read)
  }
}
