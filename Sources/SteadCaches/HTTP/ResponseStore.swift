import Foundation
import Synchronization

/// Where an HTTP cache keeps responses: in memory, and on disk if it has a directory.
///
/// On disk a URL has a page, which is the metadata of an entry without a value, and each of its responses has an entry
/// for the body. Bodies have names that no other body ever had, so that a head never gets another one's body. A page in
/// memory is only valid as long as the one on disk is unchanged, so that what one process removes is gone for all
/// others. A change of a page starts again if another change, by any process, came in between.
final class ResponseStore: Sendable {
  let memory: MemoryCache<CacheKey, StoredPage>
  let disk: DiskCache?
  let limits: HTTPCache.Limits
  private let isShared: Bool
  let now: @Sendable () -> Date
  let rights = StoringRights()
  /// Pages that could not be removed from the disk, by what they hold there.
  let buried = Mutex<[String: Data]>([:])
  /// Held while a page in memory is read and replaced, or removed. No user code runs meanwhile.
  let changing = Mutex(())
  let trust = DiskTrust()

  /// The share of the memory that one URL may take.
  private static let pageShare = 2
  /// The share of the memory that one body may take.
  private static let bodyShare = 4
  /// How often a change starts again because the page was replaced in the meantime.
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

  /// The most bytes that the responses of a URL take in memory.
  var pageSize: Int { limits.memorySizeLimit / Self.pageShare }

  /// The most bytes of a body that is kept in memory.
  var memoryBodySize: Int { min(limits.bufferSizeLimit, limits.memorySizeLimit / Self.bodyShare) }

  /// The responses of a URL.
  func responses(for key: CacheKey) -> [StoredResponse] {
    rights.isRemoved(key) ? [] : look(key).page.responses
  }

  /// The page of a URL as it is now, and its entry on disk.
  func look(_ key: CacheKey) -> (page: StoredPage, entry: DiskCache.Entry?) {
    let kept = memory.value(for: key)
    let entry = usableDisk?.entry(for: onDisk(key))
    if let kept, kept.onDisk == entry?.metadata { return (kept, entry) }
    guard let entry, !isBuried(key, entry.metadata) else { return (StoredPage(), entry) }
    let page = StoredPage(
      StoredPage.decode(entry.metadata, isShared: isShared), onDisk: entry.metadata)
    return changing.withLock { _ in
      // Changes made in the meantime without the disk must stay.
      if let kept = memory.value(for: key), kept.onDisk == entry.metadata {
        return (kept, entry)
      }
      guard !isBuried(key, entry.metadata) else { return (StoredPage(), entry) }
      memory.setValue(page, for: key, cost: page.cost)
      return (page, entry)
    }
  }

  /// Changes the responses of a URL, and returns the page as this change has stored it, with the bodies for which memory
  /// had room; nil if it isn't stored.
  ///
  /// - Parameter change: Called again if the page was changed in the meantime, and while a lock is held.
  @discardableResult
  func change(
    _ key: CacheKey, body: (id: String, kept: StoredPage.KeptBody)? = nil,
    _ change: ([StoredResponse]) -> [StoredResponse]
  ) -> StoredPage? {
    guard let disk = diskForWriting() else {
      return changeInMemory(key, body: body, change)
    }
    rights.beginChange(of: key)
    defer { rights.endChange(of: key) }
    let page = self.change(key, on: disk, body: body, change)
    guard !rights.isRemoved(key) else {
      erase(key)
      return nil
    }
    return page
  }

  private func change(
    _ key: CacheKey, on disk: DiskCache, body: (id: String, kept: StoredPage.KeptBody)?,
    _ change: ([StoredResponse]) -> [StoredResponse]
  ) -> StoredPage? {
    for _ in 0..<Self.changeAttempts {
      let (old, entry) = look(key)
      let responses = change(old.responses)
      guard responses != old.responses else { return responses.isEmpty ? nil : old }
      let dropped = old.responses.filter { old in !responses.contains { $0.id == old.id } }
      guard !responses.isEmpty else {
        erase(key)
        removeBodies(of: dropped)
        return nil
      }
      let bytes = StoredPage.encode(responses)
      switch disk.replace(entry, with: bytes, for: onDisk(key), tags: [key.tag]) {
      case .conflict: continue
      case .failed:
        return changeInMemory(key, over: entry?.metadata, seen: old, body: body, change)
      case .done:
        var page = old.with(responses, body: body)
        page.onDisk = bytes
        let kept = changing.withLock { _ in isBuried(key, bytes) ? nil : set(page, for: key) }
        removeBodies(of: dropped)
        return kept ?? StoredPage(responses, onDisk: bytes)
      }
    }
    // A lost page costs fetches, and one without the change may be wrong.
    erase(key)
    return nil
  }

  /// Changes a page in memory, since there is no disk, or since it can't be written.
  ///
  /// - Parameters:
  ///   - bytes: What a disk that can't be written holds. It is no longer valid, even if the page leaves memory.
  ///   - seen: The page as it was found with these bytes.
  private func changeInMemory(
    _ key: CacheKey, over bytes: Data? = nil, seen: StoredPage = StoredPage(),
    body: (id: String, kept: StoredPage.KeptBody)?, _ change: ([StoredResponse]) -> [StoredResponse]
  ) -> StoredPage? {
    changing.withLock { _ in
      var old = StoredPage()
      if let kept = memory.value(for: key), kept.onDisk == bytes {
        old = kept
      } else if let bytes, !isBuried(key, bytes) {
        // A page that was only in memory, and isn't any more, was removed.
        old = seen
      }
      var page = old.with(change(old.responses), body: body)
      page.onDisk = bytes
      if let bytes { bury(key, bytes) }
      return set(page, for: key)
    }
  }

  /// Keeps a page in memory, and returns what is kept of it; nil if that is nothing. Call it while ``changing`` is held.
  private func set(_ page: StoredPage, for key: CacheKey) -> StoredPage? {
    var page = page
    page.dropBodies(downTo: pageSize)
    if usableDisk == nil { page.dropBodiless() }
    guard !page.responses.isEmpty else {
      memory.removeValue(for: key)
      return nil
    }
    return memory.setValue(page, for: key, cost: page.cost) ? page : nil
  }
}

extension ResponseStore {
  /// The key of a URL's page on disk.
  func onDisk(_ key: CacheKey) -> String { pagePrefix + key.string }

  /// A shared cache must not find what a private one has stored.
  var pagePrefix: String { isShared ? "shared page " : "page " }
}

extension CacheKey {
  /// The tag of all that is on disk of the URL's host.
  var tag: String { "host " + host }
}

// MARK: - Removing

extension ResponseStore {
  /// The most pages that are remembered because they could not be removed from the disk.
  private static let buriedLimit = 10_000

  /// The disk, unless it holds data that should have been removed.
  var usableDisk: DiskCache? { trust.isWhole ? disk : nil }

  /// The disk, unless it holds data that should have been removed and still can't be emptied.
  func diskForWriting() -> DiskCache? {
    guard let disk else { return nil }
    return trust.mend { disk.removeAll() } ? disk : nil
  }

  /// Removes the responses of a URL, also those that are on their way.
  func remove(_ key: CacheKey) {
    rights.revoke(key)
    let responses = look(key).page.responses
    changing.withLock { _ in _ = memory.removeValue(for: key) }
    // Again for changes that had seen the page in memory.
    rights.revoke(key)
    erase(key)
    removeBodies(of: responses)
  }

  /// The keys of all URLs that have responses.
  var keys: Set<CacheKey> {
    var keys = Set(memory.contents.filter { !$0.value.responses.isEmpty }.map(\.key))
    let prefix = pagePrefix
    for name in usableDisk?.keys(withPrefix: prefix) ?? [] {
      if let key = CacheKey(String(name.dropFirst(prefix.count))) { keys.insert(key) }
    }
    // A page in memory may be outdated by the disk, and one on the disk should perhaps have been removed.
    return keys.filter { !responses(for: $0).isEmpty }
  }

  /// Removes the responses of all URLs that begin with one, also those that are on their way.
  func remove(prefix: CacheKey) {
    let onTheirWay = rights.keys.compactMap { CacheKey($0) }
    for key in keys.union(onTheirWay) where key.string.utf8.starts(with: prefix.string.utf8) {
      remove(key)
    }
  }

  /// Removes all responses of a host, also those that are on their way.
  func remove(host: String) {
    let host = host.lowercasedASCII
    removeMany {
      $0.removeValues(taggedWith: "host " + host)
    } rest: { key, page in
      key.host == host ? StoredPage() : page
    }
  }

  /// Removes all responses that were stored at a date or later.
  func remove(storedSince date: Date) {
    removeFromPages(storedSince: date)
    removeMany {
      $0.removeValues(storedSince: date)
    } rest: { _, page in
      page.without(storedSince: date)
    }
  }

  /// Removes all responses, also those that are on their way.
  func removeAll() {
    removeMany {
      $0.removeAll()
    } rest: { _, _ in
      StoredPage()
    }
  }

  /// - Parameters:
  ///   - remove: Removes entries from the disk, and returns whether it could.
  ///   - rest: The part of a page that remains.
  private func removeMany(
    _ remove: (DiskCache) -> Bool, rest: (CacheKey, StoredPage) -> StoredPage
  ) {
    rights.revokeAll()
    clearMemory(rest)
    // Again for changes that had seen pages in memory.
    rights.revokeAll()
    if let disk, !remove(disk) { trust.lose() }
    clearMemory(rest)
  }

  private func clearMemory(_ rest: (CacheKey, StoredPage) -> StoredPage) {
    changing.withLock { _ in
      // Responses that are also on disk are read from there again.
      guard disk == nil else { return memory.removeAll() }
      for (key, page) in memory.contents {
        let rest = rest(key, page)
        if rest.responses.isEmpty {
          memory.removeValue(for: key)
        } else if rest.responses.count < page.responses.count {
          memory.setValue(rest, for: key, cost: rest.cost)
        }
      }
    }
  }

  /// Removes a page from disk and memory. What the disk fails to remove is nevertheless treated as gone.
  func erase(_ key: CacheKey) {
    let disk = usableDisk
    disk?.removeValue(for: onDisk(key))
    let left = disk?.entry(for: onDisk(key))?.metadata
    changing.withLock { _ in
      if let left { bury(key, left) }
      memory.removeValue(for: key)
    }
  }

  /// Remembers that the disk's version of a page is no longer valid.
  func bury(_ key: CacheKey, _ bytes: Data) {
    buried.withLock { buried in
      if buried.count >= Self.buriedLimit {
        trust.lose()
        buried.removeAll()
      }
      buried[key.string] = bytes
    }
  }

  /// Whether the disk's version of a page should have been removed.
  func isBuried(_ key: CacheKey, _ bytes: Data) -> Bool {
    buried.withLock { buried in
      guard let left = buried[key.string] else { return false }
      if left == bytes { return true }
      buried[key.string] = nil
      return false
    }
  }
}
