import Foundation
import Synchronization

/// Stores the responses of an HTTP cache: in memory, and on disk if it has a directory.
///
/// On disk a URL has one entry without a value, whose metadata are the heads of its variants
/// (``CachedVariants``), and one entry for each variant's body:
///
/// ```
/// "page https://a.example/b"      metadata: heads of the variants    no value
/// "body 1x2y3z-4a5b6c"            metadata: the URL                  value: the bytes
/// ```
///
/// Bodies have names that no other body ever had, so that a head never gets another response's
/// body, whatever is evicted or written between two transactions.
///
/// - Memory over disk: variants in memory count only as long as their bytes equal those on disk.
///   Each look-up compares them, so what one process removes is gone for all others. A
///   ``ChangeToken``, which ``LayeredCache`` asks instead, would not see the commit of a process
///   that is killed before it counts it.
/// - Optimistic concurrency: an update reads the variants, computes new ones, and replaces those on
///   disk only if they are unchanged; otherwise it starts again. No lock is held in between, by any
///   process.
/// - A disk that can't be written: what should have been removed from it is in
///   ``PendingRemovals``, and no longer found by this object.
final class ResponseStore: Sendable {
  let memory: MemoryCache<CacheKey, CachedVariants>
  let disk: DiskCache?
  let limits: HTTPCache.Limits
  private let isShared: Bool
  let now: @Sendable () -> Date
  let epochs = InvalidationEpochs()
  /// Marks variants on disk by URL and bytes.
  let pendingRemovals = PendingRemovals()
  /// Held for each read-modify-write of `memory`. No user code runs meanwhile.
  let memoryLock = Mutex(())

  /// One URL takes at most half of the memory.
  private static let variantsShare = 2
  /// One body takes at most a quarter of the memory.
  private static let bodyShare = 4
  /// How often an update starts again because another one came in between. Updates of one URL by
  /// many processes that each lose a hundred times in a row mean that something is wrong.
  private static let changeAttempts = 100

  init(
    disk: DiskCache?, limits: HTTPCache.Limits, isShared: Bool = false,
    respondsToMemoryPressure: Bool, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.isShared = isShared
    self.disk = disk
    self.limits = limits
    self.now = now
    memory = MemoryCache(
      totalCostLimit: limits.memorySizeLimit, respondsToMemoryPressure: respondsToMemoryPressure)
  }

  /// The maximum number of bytes that the variants of a URL take in memory, with their bodies.
  var variantsSizeLimit: Int { limits.memorySizeLimit / Self.variantsShare }

  /// The maximum number of bytes of a body that is kept in memory.
  var memoryBodySizeLimit: Int {
    min(limits.bufferSizeLimit, limits.memorySizeLimit / Self.bodyShare)
  }

  /// The stored responses of a URL, the newest last.
  func responses(for key: CacheKey) -> [StoredResponse] {
    epochs.wasRemoved(key) ? [] : lookup(key).variants.responses
  }

  /// The variants of a URL, and the entry on disk that they were found with.
  typealias Lookup = (variants: CachedVariants, entry: DiskCache.Entry?)

  /// Returns the variants of a URL as they are now, and their entry on disk.
  ///
  /// Costs a look-up in SQLite even if memory has them: the bytes are compared, since another
  /// process may have changed them.
  func lookup(_ key: CacheKey) -> Lookup {
    let kept = memory.value(for: key)
    let entry = usableDisk?.entry(for: diskKey(key))
    if let kept, kept.diskBytes == entry?.metadata { return (kept, entry) }
    guard let entry, !isPending(key, entry.metadata) else { return (CachedVariants(), entry) }
    let variants = CachedVariants(
      CachedVariants.decode(entry.metadata, isShared: isShared), diskBytes: entry.metadata)
    return memoryLock.withLock { _ in
      // An update that could not write to the disk may have put newer variants over these bytes.
      if let kept = memory.value(for: key), kept.diskBytes == entry.metadata {
        return (kept, entry)
      }
      guard !isPending(key, entry.metadata) else { return (CachedVariants(), entry) }
      memory.setValue(variants, for: key, cost: variants.cost)
      return (variants, entry)
    }
  }

  /// Returns an earlier look-up without asking the disk if a new one would find the same list,
  /// provided that the entry on disk is unchanged; otherwise makes a new one.
  ///
  /// The provision is what the compare-and-swap of an update checks: after a change by another
  /// update or process it is a conflict, and the update looks again. What a look-up finds with an
  /// unchanged entry depends on two more things, which only this object changes:
  /// - Memory has another list over the same bytes after an update that could not write to the
  ///   disk. So the lists are compared, and the bodies are those that memory has now.
  /// - ``PendingRemovals`` marks the entry. Whoever does so also changes or removes the list in
  ///   memory, and no mark changes what is found if that was nothing. If everything was marked,
  ///   ``diskForWriting()`` has emptied the disk since, which is a conflict.
  ///
  /// A list that was evicted from memory is looked up again, since it can't be compared.
  private func lookup(_ key: CacheKey, reusing seen: Lookup?) -> Lookup {
    guard let seen else { return lookup(key) }
    let kept = memory.value(for: key) ?? CachedVariants()
    guard kept.responses == seen.variants.responses else { return lookup(key) }
    return (kept, seen.entry)
  }

  /// Updates the variants of a URL, on disk and in memory.
  ///
  /// Invariant: when this returns, memory and disk have the result of `change` applied to some
  /// state that no other update has replaced in between, or nothing. A removal by this object
  /// during the update wins: the update erases what it has written.
  ///
  /// - Parameters:
  ///   - body: A body to keep in memory with its response.
  ///   - seen: A look-up that the caller has made, for the first attempt.
  ///   - change: Computes the new variants. Called again if another update came in between, and
  ///     possibly while a lock is held, so it must not call the store.
  /// - Returns: The variants as this update has stored them, with the bodies for which memory had
  ///   room; nil if nothing is stored.
  @discardableResult
  func update(
    _ key: CacheKey, body: (id: String, kept: CachedVariants.MemoryBody)? = nil,
    seen: Lookup? = nil, _ change: ([StoredResponse]) -> [StoredResponse]
  ) -> CachedVariants? {
    guard let disk = diskForWriting() else {
      return changeInMemory(key, body: body, change)
    }
    epochs.beginUpdate(of: key)
    defer { epochs.endUpdate(of: key) }
    let variants = self.update(key, on: disk, body: body, seen: seen, change)
    guard !epochs.wasRemoved(key) else {
      erase(key)
      return nil
    }
    return variants
  }

  private func update(
    _ key: CacheKey, on disk: DiskCache, body: (id: String, kept: CachedVariants.MemoryBody)?,
    seen: Lookup?, _ change: ([StoredResponse]) -> [StoredResponse]
  ) -> CachedVariants? {
    var seen = seen
    for _ in 0..<Self.changeAttempts {
      let (old, entry) = lookup(key, reusing: seen)
      seen = nil
      let responses = change(old.responses)
      // Nothing is compared then: as if the update had come before whatever has changed since.
      guard responses != old.responses else { return responses.isEmpty ? nil : old }
      // Their bodies are removed after the heads are replaced, so that no head on disk lacks its
      // body.
      // By name: a response that a 304 has updated keeps its body.
      let dropped = old.responses.filter { old in !responses.contains { $0.id == old.id } }
      guard !responses.isEmpty else {
        erase(key)
        removeBodies(of: dropped)
        return nil
      }
      let bytes = CachedVariants.encode(responses)
      // Compare-and-swap: no lock was held since the look-up.
      switch disk.replace(entry, with: bytes, for: diskKey(key), tags: [key.tag]) {
      case .conflict: continue
      case .failed:
        return changeInMemory(key, over: entry?.metadata, seen: old, body: body, change)
      case .done:
        var variants = old.with(responses, body: body)
        variants.diskBytes = bytes
        // Not into memory if a removal has marked these bytes since they were written.
        let kept = memoryLock.withLock { _ in
          isPending(key, bytes) ? nil : set(variants, for: key)
        }
        removeBodies(of: dropped)
        // Memory had no room, but the disk has the heads.
        return kept ?? CachedVariants(responses, diskBytes: bytes)
      }
    }
    // Lost variants cost fetches. Variants without this change may be wrong, for example still have
    // what it removes.
    erase(key)
    return nil
  }

  /// Updates variants in memory alone, since there is no disk or it can't be written.
  ///
  /// - Parameters:
  ///   - bytes: What a disk that can't be written holds. It is invalid from now on, even after the
  ///     new variants have left memory.
  ///   - seen: The variants that were found with these bytes.
  private func changeInMemory(
    _ key: CacheKey, over bytes: Data? = nil, seen: CachedVariants = CachedVariants(),
    body: (id: String, kept: CachedVariants.MemoryBody)?,
    _ change: ([StoredResponse]) -> [StoredResponse]
  ) -> CachedVariants? {
    memoryLock.withLock { _ in
      var old = CachedVariants()
      if let kept = memory.value(for: key), kept.diskBytes == bytes {
        old = kept
      } else if let bytes, !isPending(key, bytes) {
        // Only if they are not invalid: variants that were in memory alone, and aren't any more,
        // were removed.
        old = seen
      }
      var variants = old.with(change(old.responses), body: body)
      variants.diskBytes = bytes
      if let bytes { pendingRemovals.add(key.string, metadata: bytes) }
      return set(variants, for: key)
    }
  }

  /// Keeps variants in memory, and returns what is kept of them; nil if that is nothing. Requires
  /// ``memoryLock``.
  private func set(_ variants: CachedVariants, for key: CacheKey) -> CachedVariants? {
    var variants = variants
    variants.dropBodies(downTo: variantsSizeLimit)
    // Without a disk a head without its body is never of use again.
    if usableDisk == nil { variants.dropBodiless() }
    guard !variants.responses.isEmpty else {
      memory.removeValue(for: key)
      return nil
    }
    return memory.setValue(variants, for: key, cost: variants.cost) ? variants : nil
  }
}

extension ResponseStore {
  /// The key of a URL's variants on disk.
  func diskKey(_ key: CacheKey) -> String { variantsPrefix + key.string }

  /// A shared cache must not find what a private one has stored.
  var variantsPrefix: String { isShared ? "shared page " : "page " }
}

extension CacheKey {
  /// The tag of all that is on disk of the URL's host.
  var tag: String { "host " + host }
}

// MARK: - Removing

extension ResponseStore {
  /// The disk, unless it has to be cleared first.
  var usableDisk: DiskCache? { pendingRemovals.isClear ? disk : nil }

  /// The disk, cleared if that is pending; nil if it can't be.
  func diskForWriting() -> DiskCache? {
    guard let disk else { return nil }
    return pendingRemovals.clearIfNeeded { disk.removeAll() } ? disk : nil
  }

  /// Removes the responses of a URL, also those that are being fetched.
  func remove(_ key: CacheKey) {
    epochs.invalidate(key)
    let responses = lookup(key).variants.responses
    memoryLock.withLock { _ in _ = memory.removeValue(for: key) }
    // Again for updates that began after the first call and had read the variants from memory.
    epochs.invalidate(key)
    erase(key)
    removeBodies(of: responses)
  }

  /// The keys of all URLs that have responses.
  var keys: Set<CacheKey> {
    var keys = Set(memory.contents.filter { !$0.value.responses.isEmpty }.map(\.key))
    let prefix = variantsPrefix
    for name in usableDisk?.keys(withPrefix: prefix) ?? [] {
      if let key = CacheKey(String(name.dropFirst(prefix.count))) { keys.insert(key) }
    }
    // Variants in memory may be outdated by the disk, and those on disk may be invalid: `lookup`
    // decides.
    return keys.filter { !responses(for: $0).isEmpty }
  }

  /// Removes the responses of all URLs that begin with one, also those that are being fetched.
  func remove(prefix: CacheKey) {
    // A response that is being fetched is in no list yet.
    let onTheirWay = epochs.keys.compactMap { CacheKey($0) }
    for key in keys.union(onTheirWay) where key.string.utf8.starts(with: prefix.string.utf8) {
      remove(key)
    }
  }

  /// Removes all responses of a host, also those that are being fetched.
  func remove(host: String) {
    let host = host.lowercasedASCII
    removeMany {
      $0.removeValues(taggedWith: "host " + host)
    } rest: { key, variants in
      key.host == host ? CachedVariants() : variants
    }
  }

  /// Removes all responses that were stored at a date or later.
  func remove(storedSince date: Date) {
    removeVariants(storedSince: date)
    removeMany {
      $0.removeValues(storedSince: date)
    } rest: { _, variants in
      variants.without(storedSince: date)
    }
  }

  /// Removes all responses, also those that are being fetched.
  func removeAll() {
    removeMany {
      $0.removeAll()
    } rest: { _, _ in
      CachedVariants()
    }
  }

  /// - Parameters:
  ///   - remove: Removes entries from the disk, and returns whether it could.
  ///   - rest: What remains of a URL's variants in a cache without a disk.
  private func removeMany(
    _ remove: (DiskCache) -> Bool, rest: (CacheKey, CachedVariants) -> CachedVariants
  ) {
    epochs.invalidateAll()
    clearMemory(rest)
    // Again for updates that began after the first call and had read variants from memory.
    epochs.invalidateAll()
    if let disk, !remove(disk) { pendingRemovals.addAll() }
    // Again for look-ups that had read variants from the disk before they were removed.
    clearMemory(rest)
  }

  private func clearMemory(_ rest: (CacheKey, CachedVariants) -> CachedVariants) {
    memoryLock.withLock { _ in
      // What remains on disk is read from there again.
      guard disk == nil else { return memory.removeAll() }
      for (key, variants) in memory.contents {
        let rest = rest(key, variants)
        if rest.responses.isEmpty {
          memory.removeValue(for: key)
        } else if rest.responses.count < variants.responses.count {
          memory.setValue(rest, for: key, cost: rest.cost)
        }
      }
    }
  }

  /// Removes a URL's variants from disk and memory. What the disk fails to remove is invalid from
  /// now on.
  func erase(_ key: CacheKey) {
    let disk = usableDisk
    disk?.removeValue(for: diskKey(key))
    // Looked up again instead of trusting the removal's result: what is left counts.
    let left = disk?.entry(for: diskKey(key))?.metadata
    memoryLock.withLock { _ in
      if let left { pendingRemovals.add(key.string, metadata: left) }
      memory.removeValue(for: key)
    }
  }

  /// Whether the bytes on disk should have been replaced or removed.
  private func isPending(_ key: CacheKey, _ bytes: Data) -> Bool {
    pendingRemovals.includes(key.string, metadata: bytes)
  }
}
