import Foundation
import Synchronization

/// Where an HTTP cache keeps responses: in memory, and on disk if it has a directory.
///
/// On disk a URL has a page, which is the metadata of an entry without a value, and each of its responses an entry
/// for the body. Bodies have names that no other body ever had, so that a head never gets another one's body. A page
/// in memory counts only as long as the one on disk is what it was, so that what one process removes is gone for
/// all others. Two changes of a page at the same moment may lose a response, which then is a miss.
final class ResponseStore: Sendable {
  let memory: MemoryCache<String, StoredPage>
  let disk: DiskCache?
  let limits: HTTPCache.Limits
  let rights = StoringRights()
  /// Pages that could not be removed from the disk, by what they hold there.
  let buried = Mutex<[String: Data]>([:])
  /// Held while a page is changed in memory, if there is no disk. No user's code runs meanwhile.
  private let changing = Mutex(())

  /// The share of the memory that one URL may take up.
  private static let pageShare = 2
  /// The share of the memory that one body may take up.
  private static let bodyShare = 4
  /// How often a change begins again because the page was replaced meanwhile.
  private static let changeAttempts = 3

  init(disk: DiskCache?, limits: HTTPCache.Limits, respondsToMemoryPressure: Bool) {
    self.disk = disk
    self.limits = limits
    memory = MemoryCache(
      totalCostLimit: limits.memorySize, respondsToMemoryPressure: respondsToMemoryPressure)
  }

  /// The most bytes of a body that is kept in memory.
  var memoryBodySize: Int { min(limits.bufferSize, limits.memorySize / Self.bodyShare) }

  /// The responses of a URL.
  func responses(for key: CacheKey) -> [StoredResponse] {
    rights.isRemoved(key) ? [] : look(key).page.responses
  }

  /// The page of a URL as it is now, and its entry on disk.
  func look(_ key: CacheKey) -> (page: StoredPage, entry: DiskCache.Entry.ID?) {
    let kept = memory.value(for: key.string)
    guard let disk else { return (kept ?? StoredPage(), nil) }
    let entry = disk.entry(for: key.onDisk)
    if let kept, kept.onDisk == entry?.metadata { return (kept, entry?.id) }
    guard let entry, !isBuried(key, entry.metadata) else { return (StoredPage(), entry?.id) }
    let page = StoredPage(StoredPage.decode(entry.metadata), onDisk: entry.metadata)
    memory.setValue(page, for: key.string, cost: page.cost)
    return (page, entry.id)
  }

  /// Changes the responses of a URL, and returns whether the page is stored.
  @discardableResult
  func change(
    _ key: CacheKey, body: (id: String, data: Data)? = nil,
    _ change: ([StoredResponse]) -> [StoredResponse]
  ) -> Bool {
    guard let disk else {
      return changing.withLock { _ in
        let old = memory.value(for: key.string) ?? StoredPage()
        return set(old.with(change(old.responses), body: body), for: key)
      }
    }
    rights.beginChange(of: key)
    defer { rights.endChange(of: key) }
    for _ in 0..<Self.changeAttempts {
      let (old, entry) = look(key)
      let responses = change(old.responses)
      guard responses != old.responses else { return !responses.isEmpty }
      guard write(responses, for: key, over: entry, to: disk) else { continue }
      var page = old.with(responses, body: body)
      page.onDisk = disk.entry(for: key.onDisk)?.metadata
      let isStored = set(page, for: key)
      removeBodies(of: old.responses.filter { old in !responses.contains { $0.id == old.id } })
      guard !rights.isRemoved(key) else {
        erase(key)
        return false
      }
      return isStored || page.onDisk != nil
    }
    return false
  }

  /// Whether a page is what the disk holds now, or at least what memory does because the disk can't be written.
  private func write(
    _ responses: [StoredResponse], for key: CacheKey, over entry: DiskCache.Entry.ID?,
    to disk: DiskCache
  ) -> Bool {
    if responses.isEmpty {
      erase(key)
      return true
    }
    let bytes = StoredPage.encode(responses)
    if let entry {
      if disk.setMetadata(bytes, for: key.onDisk, ifStoredAs: entry) { return true }
      // It was replaced, or the disk is full or locked.
      return disk.entry(for: key.onDisk)?.id == entry
    }
    disk.writer(for: key.onDisk, metadata: bytes, tags: [key.tag]).commit()
    return true
  }

  /// Keeps a page in memory, if it has anything, and returns whether it does.
  private func set(_ page: StoredPage, for key: CacheKey) -> Bool {
    var page = page
    page.dropBodies(downTo: limits.memorySize / Self.pageShare)
    if disk == nil { page.dropBodiless() }
    guard !page.responses.isEmpty else {
      memory.removeValue(for: key.string)
      return false
    }
    return memory.setValue(page, for: key.string, cost: page.cost)
  }
}

extension CacheKey {
  /// The key of the URL's page on disk.
  var onDisk: String { "page " + string }
  /// The tag of all that is on disk of the URL's host.
  var tag: String { "host " + host }
}
