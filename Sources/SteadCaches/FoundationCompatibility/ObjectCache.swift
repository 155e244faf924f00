import Foundation

/// A `MemoryCache` with the methods of Foundation's `NSCache`.
///
/// ```swift
/// #if !canImport(Darwin)
///   typealias NSCache = ObjectCache
///   typealias NSCacheDelegate = ObjectCacheDelegate
/// #endif
/// ```
///
/// In a module with these lines, code for Apple's `NSCache` compiles and works off Apple's systems.
/// There, Foundation's own refuses new objects once it is full, finds no key that is an object of a
/// `Hashable` Swift class, and never frees its objects when it is dropped. This one enforces its
/// limits at every moment and evicts the least frequently used objects; see ``MemoryCache``.
///
/// Any thread may call it, as with `NSCache`. Like that class it isn't `Sendable`, since it passes
/// objects from one thread to another; new code should use ``MemoryCache``.
///
/// A key is retained, not copied. Keys are the same if `isEqual(_:)` says so or, for objects of
/// Swift classes, if they are equal as `Hashable` or identical.
open class ObjectCache<KeyType: AnyObject, ObjectType: AnyObject>: NSObject {
  private let storage: MemoryCache<ObjectKey, CachedObject>
  private let eviction: ObjectEviction

  /// The cache's name, which the cache does not use itself.
  open var name = ""

  /// Whether objects with discarded content are evicted; without effect, since Foundation has no
  /// discardable content off Apple's systems.
  open var evictsObjectsWithDiscardedContent = true

  /// Makes an empty cache without limits.
  public override init() {
    let eviction = ObjectEviction()
    storage = MemoryCache { _, cached, _ in eviction.call(with: cached.object) }
    self.eviction = eviction
    super.init()
    eviction.setCache(self)
  }

  /// Called when an object leaves the cache; not retained.
  open weak var delegate: (any ObjectCacheDelegate)? {
    get { eviction.delegate }
    set { eviction.delegate = newValue }
  }

  /// The maximum number of objects that the cache holds; 0 for no limit.
  open var countLimit: Int {
    get { Self.number(storage.countLimit) }
    set { storage.countLimit = Self.limit(newValue) }
  }

  /// The maximum sum of the objects' costs; 0 for no limit.
  open var totalCostLimit: Int {
    get { Self.number(storage.totalCostLimit) }
    set { storage.totalCostLimit = Self.limit(newValue) }
  }

  /// Returns the object for a key; nil if there is none. Counts as a use.
  open func object(forKey key: KeyType) -> ObjectType? {
    // A delegate gets the cache as a cache of any objects, and may have set one of another class.
    storage.value(for: ObjectKey(key))?.object as? ObjectType
  }

  /// Sets the object for a key, at no cost.
  open func setObject(_ obj: ObjectType, forKey key: KeyType) {
    setObject(obj, forKey: key, cost: 0)
  }

  /// Sets the object for a key; it is not kept if it costs more than ``totalCostLimit``.
  open func setObject(_ obj: ObjectType, forKey key: KeyType, cost g: Int) {
    storage.setValue(CachedObject(object: obj), for: ObjectKey(key), cost: g)
  }

  /// Removes the object for a key.
  open func removeObject(forKey key: KeyType) { storage.removeValue(for: ObjectKey(key)) }

  /// Removes all objects.
  open func removeAllObjects() { storage.removeAll() }

  private static func limit(_ number: Int) -> Int { number > 0 ? number : .max }
  private static func number(_ limit: Int) -> Int { limit == .max ? 0 : limit }
}

/// Declares that the class is not Sendable, as Foundation does for `NSCache`.
@available(*, unavailable)
extension ObjectCache: @unchecked Sendable {}

/// The delegate of an ``ObjectCache``, with the method of `NSCacheDelegate`.
public protocol ObjectCacheDelegate: NSObjectProtocol {
  /// Called when an object has been evicted, removed or replaced, on the thread that did it or on
  /// one that calls the delegate already.
  ///
  /// - Parameter cache: The cache, as a cache of objects of any class.
  func cache(_ cache: ObjectCache<AnyObject, AnyObject>, willEvictObject obj: Any)
}

extension ObjectCacheDelegate {
  /// Does nothing.
  public func cache(_ cache: ObjectCache<AnyObject, AnyObject>, willEvictObject obj: Any) {}
}

// MARK: - Calls of the delegate

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
    // The classes of keys and objects are not part of the cache's layout, and its methods take them
    // from the object itself, so it works as a cache of any objects.
    let reference = Unmanaged.passUnretained(cache).toOpaque()
    delegate.cache(
      Unmanaged<ObjectCache<AnyObject, AnyObject>>.fromOpaque(reference).takeUnretainedValue(),
      willEvictObject: object)
  }
}

// MARK: - Keys and objects

/// A key of an ``ObjectCache``.
// Sendable: the cache only uses its equality and hash, as `NSCache` does on any thread.
struct ObjectKey: Hashable, @unchecked Sendable {
  private enum Form {
    case foundation(NSObject)
    case hashable(AnyHashable)
    case identity(AnyObject)
  }

  private let form: Form

  init(_ object: AnyObject) {
    if let object = object as? NSObject {
      form = .foundation(object)
    } else if let object = object as? any Hashable {
      form = .hashable(AnyHashable(object))
    } else {
      form = .identity(object)
    }
  }

  static func == (left: ObjectKey, right: ObjectKey) -> Bool {
    switch (left.form, right.form) {
    case (.foundation(let left), .foundation(let right)): left === right || left.isEqual(right)
    case (.hashable(let left), .hashable(let right)): left == right
    case (.identity(let left), .identity(let right)): left === right
    default: false
    }
  }

  func hash(into hasher: inout Hasher) {
    switch form {
    case .foundation(let object): hasher.combine(object.hash)
    case .hashable(let object): hasher.combine(object)
    case .identity(let object): hasher.combine(ObjectIdentifier(object))
    }
  }
}

/// An object in an ``ObjectCache``.
// Sendable: the cache holds it and returns it, and calls none of its methods.
struct CachedObject: @unchecked Sendable {
  let object: AnyObject
}
