import Foundation

/// Calls the delegate of an ``ObjectCache``.
// Sendable: the cache is set once, before anything can leave it, and the delegate is behind a lock.
final class ObjectEviction: @unchecked Sendable {
  // A reference to any class of objects, since the storage knows none.
  private weak var cache: NSObject?
  private let lock = NSLock()
  private weak var storedDelegate: (any ObjectCacheDelegate)?

  var delegate: (any ObjectCacheDelegate)? {
    get { lock.withLock { storedDelegate } }
    set { lock.withLock { storedDelegate = newValue } }
  }

  func setCache(_ cache: NSObject) { self.cache = cache }

  func call(with object: AnyObject) {
    guard let delegate, let cache else { return }
    // The classes of keys and objects are not part of the cache's layout, and its methods take them from the object
    // itself, so it works as a cache of any objects.
    let reference = Unmanaged.passUnretained(cache).toOpaque()
    delegate.cache(
      Unmanaged<ObjectCache<AnyObject, AnyObject>>.fromOpaque(reference).takeUnretainedValue(),
      willEvictObject: object)
  }
}
