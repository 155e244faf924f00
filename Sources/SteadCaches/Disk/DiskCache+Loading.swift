public import Foundation

extension DiskCache {
  /// The bytes that were set for a key, or those that a body loads, which are then set. Bytes that are older than
  /// ``Limits/refreshAfter`` are returned, and loaded again in the background.
  ///
  /// Of all simultaneous requests for a key through this object, one loads; other processes may load, too. A load must
  /// not request its own key, since it would wait for itself. Loaded bytes aren't stored if the key was set meanwhile, by
  /// any process, or if this object removed it; a removal by another object or process makes no difference.
  ///
  /// - Parameters:
  ///   - timeToLive: How long loaded bytes are valid; nil means as long as the cache's limits say.
  ///   - tags: Names that many entries may share, to remove them together.
  /// - Throws: What `load` throws, which is not stored, and `CancellationError` if the task is cancelled.
  public func data(
    for key: String, timeToLive: Duration? = nil, tags: Set<String> = [],
    orLoad load: @escaping @Sendable () async throws -> Data
  ) async throws -> Data {
    let new = NewEntry(key, timeToLive: timeToLive, tags: tags)
    if let (data, stored) = current(key, { $0 }) {
      refresh(key, stored, isCurrent: { identify(key) == stored.id }) {
        let data = try await load()
        return LoadedValue(value: data, bytes: data, unusable: stored.id?.number)
      } keep: { [self] in
        keep($0, as: new, $1)
      }
      return data
    }
    let loaded = try await flights.value(for: key) { [self] in
      let found = find(key)
      if let contents = found?.contents { return LoadedValue(value: contents, bytes: nil) }
      let data = try await load()
      return LoadedValue(value: data, bytes: data, unusable: found?.entry.id)
    } keep: { [self] in
      keep($0, as: new, $1).afterwards
    }
    // Another call may load a value of another type for the key.
    if let data = loaded.value as? Data { return data }
    return try await load()
  }

  /// The value that was set for a key, or the one that a body loads, which is then set.
  ///
  /// Like ``data(for:timeToLive:tags:orLoad:)`` for values in the coding of ``setValue(_:for:timeToLive:tags:)``. A
  /// value that can't be encoded is returned and not stored.
  public func value<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, for key: String, timeToLive: Duration? = nil,
    tags: Set<String> = [], orLoad load: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let new = NewEntry(key, timeToLive: timeToLive, tags: tags)
    if let (value, stored) = current(key, { ValueCoding.decode($0) as Value? }) {
      refresh(key, stored, isCurrent: { identify(key) == stored.id }) {
        let value = try await load()
        return LoadedValue(
          value: value, bytes: ValueCoding.encode(value), unusable: stored.id?.number)
      } keep: { [self] in
        keep($0, as: new, $1)
      }
      return value
    }
    let loaded = try await flights.value(for: key) { [self] in
      let found = find(key)
      if let value: Value = found?.contents.flatMap(ValueCoding.decode) {
        return LoadedValue(value: value, bytes: nil)
      }
      let value = try await load()
      return LoadedValue(
        value: value, bytes: ValueCoding.encode(value), unusable: found?.entry.id)
    } keep: { [self] in
      keep($0, as: new, $1).afterwards
    }
    if let value = loaded.value as? Value { return value }
    return try await load()
  }

  /// The value of a key, and what identifies it.
  private func current<Value>(_ key: String, _ decode: (Data) -> Value?) -> (Value, Stored)? {
    defer { database.report() }
    return count(
      find(key).flatMap { found in
        found.contents.flatMap(decode).map { ($0, found.stored) }
      })
  }

  /// Stores a loaded value, and leaves problems to be reported when no lock is held.
  private func keep(
    _ loaded: LoadedValue, as new: NewEntry, _ ticket: LoadTicket
  ) -> Keeping {
    guard let bytes = loaded.bytes else { return (false, nil) }
    var new = new
    (new.ticket, new.unusable) = (ticket, loaded.unusable)
    let stored = setData(bytes, for: new)
    return (stored != nil, { [self] in database.report() })
  }
}
