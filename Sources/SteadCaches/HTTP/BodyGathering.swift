import Foundation

/// The bytes of a body that come one after the other: in memory first, on disk once they are many.
struct BodyGathering {
  private enum Place {
    case memory(Data)
    case disk(DiskCache.Writer)
    case nowhere
  }

  private let draft: StoredResponse
  private let length: Int?
  private let store: ResponseStore
  private let key: CacheKey
  /// The maximum number of bytes of the body.
  private let limit: Int
  private var size = 0
  private var place = Place.memory(Data())

  /// - Parameter length: The length that the body must have; nil if it isn't known.
  init(
    for draft: StoredResponse, length: Int?, limits: HTTPCache.Limits, store: ResponseStore,
    key: CacheKey
  ) {
    self.draft = draft
    self.length = length
    self.store = store
    self.key = key
    limit = min(length ?? .max, limits.bodySizeLimit)
  }

  /// Whether the body can still be stored.
  var isWanted: Bool {
    if case .nowhere = place { return false }
    return true
  }

  /// Whether all bytes have come, as far as is known.
  var isWhole: Bool { length == nil || length == size }

  mutating func append(_ chunk: Data) {
    size += chunk.count
    guard size <= limit else { return cancel() }
    switch place {
    case .memory(var bytes):
      place = .nowhere  // So that the bytes are not copied.
      bytes.append(chunk)
      place = size <= store.limits.bufferSizeLimit ? .memory(bytes) : spill(bytes)
    case .disk(let writer):
      if !writer.append(chunk) { cancel() }
    case .nowhere: break
    }
  }

  private func spill(_ bytes: Data) -> Place {
    guard let writer = store.writer(for: draft, under: key), writer.append(bytes) else {
      return .nowhere
    }
    return .disk(writer)
  }

  /// Stores the body if it is complete, and returns whether it is stored.
  mutating func finish(for request: HTTPCache.Request) -> Bool {
    guard isWhole else {
      cancel()
      return false
    }
    var stored = draft
    stored.bodySize = size
    switch place {
    case .memory(let bytes): return store.store(stored, bytes, for: request, under: key)
    case .disk(let writer): return store.store(stored, writer, for: request, under: key)
    case .nowhere: return false
    }
  }

  /// Drops the gathered bytes.
  mutating func cancel() {
    if case .disk(let writer) = place { writer.cancel() }
    place = .nowhere
  }
}
