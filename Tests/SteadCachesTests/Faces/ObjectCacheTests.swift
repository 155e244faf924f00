import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

// As a module does that was written for Apple's systems.
private typealias NSCache = ObjectCache
private typealias NSCacheDelegate = ObjectCacheDelegate

/// What Foundation's `NSCache` gets wrong off Apple's systems, and the rest of its face.
@Suite(.hangLimit) struct ObjectCacheTests {
  init() { MemoryPressure.shared.ignoreSystem() }

  private final class Page: Hashable {
    let number: Int
    init(_ number: Int) { self.number = number }
    static func == (left: Page, right: Page) -> Bool { left.number == right.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
  }

  private final class Token {}

  private final class Delegate: NSObject, NSCacheDelegate {
    var evicted: [String] = []
    var cacheName: String?

    func cache(_ cache: NSCache<AnyObject, AnyObject>, willEvictObject obj: Any) {
      evicted.append((obj as? NSString).map(String.init(describing:)) ?? "?")
      cacheName = cache.name
      _ = cache.object(forKey: "b" as NSString)
    }
  }

  private final class Loader: NSCache<NSString, NSData> {
    override func object(forKey key: NSString) -> NSData? {
      super.object(forKey: key) ?? NSData(data: Data("\(key)".utf8))
    }
  }

  /// A delegate has the cache as one of objects of any class.
  @Test func `an object of another class is not found`() {
    final class Setting: NSObject, ObjectCacheDelegate {
      func cache(_ cache: ObjectCache<AnyObject, AnyObject>, willEvictObject obj: Any) {
        cache.setObject(NSString("text"), forKey: NSString("b"))
      }
    }
    let cache = ObjectCache<NSString, NSNumber>()
    let delegate = Setting()
    cache.delegate = delegate
    cache.setObject(1, forKey: "a")
    cache.removeObject(forKey: "a")
    #expect(cache.object(forKey: "b") == nil)
  }

  @Test func `has the methods of NSCache`() {
    let cache = NSCache<NSString, NSData>()
    cache.name = "pages"
    #expect((cache.countLimit, cache.totalCostLimit, cache.name) == (0, 0, "pages"))
    #expect(cache.evictsObjectsWithDiscardedContent)
    cache.setObject(NSData(data: Data([1])), forKey: "a")
    cache.setObject(NSData(data: Data([2])), forKey: "b", cost: 1)
    #expect(cache.object(forKey: "a") == NSData(data: Data([1])))
    cache.removeObject(forKey: "a")
    #expect(cache.object(forKey: "a") == nil)
    cache.removeAllObjects()
    #expect(cache.object(forKey: "b") == nil)
  }

  /// Foundation's keeps the oldest ones and refuses what is new.
  @Test func `keeps the newest object when it is full`() {
    let cache = NSCache<NSNumber, NSNumber>()
    cache.countLimit = 3
    for number in 0..<100 {
      cache.setObject(number as NSNumber, forKey: number as NSNumber)
      #expect(cache.object(forKey: number as NSNumber) == number as NSNumber)
    }
    #expect((0..<100).filter { cache.object(forKey: $0 as NSNumber) != nil }.count == 3)
  }

  /// Foundation's entries refer to one another in a circle.
  @Test func `frees its objects when it is dropped`() {
    weak var object: Token?
    weak var key: Token?
    do {
      let cache = NSCache<Token, Token>()
      let (newKey, newObject) = (Token(), Token())
      cache.setObject(newObject, forKey: newKey)
      cache.setObject(Token(), forKey: Token())
      (key, object) = (newKey, newObject)
    }
    #expect(key == nil)
    #expect(object == nil)
  }

  /// Foundation's finds nothing here.
  @Test func `finds keys of Hashable Swift classes`() {
    let cache = NSCache<Page, Token>()
    let token = Token()
    cache.setObject(token, forKey: Page(1))
    #expect(cache.object(forKey: Page(1)) === token)
    #expect(cache.object(forKey: Page(2)) == nil)
  }

  @Test func `other Swift objects are keys by identity`() {
    let cache = NSCache<Token, NSNumber>()
    let key = Token()
    cache.setObject(1, forKey: key)
    #expect(cache.object(forKey: key) == 1)
    #expect(cache.object(forKey: Token()) == nil)
  }

  @Test func `keeps the cost limit`() {
    let cache = NSCache<NSNumber, NSNumber>()
    cache.totalCostLimit = 100
    for number in 0..<50 {
      cache.setObject(1, forKey: number as NSNumber, cost: 30)
    }
    #expect((0..<50).filter { cache.object(forKey: $0 as NSNumber) != nil }.count == 3)
    cache.setObject(1, forKey: 99, cost: 101)
    #expect(cache.object(forKey: 99) == nil)
    cache.totalCostLimit = 0
    cache.setObject(1, forKey: 99, cost: 1_000_000)
    #expect(cache.object(forKey: 99) == 1)
  }

  @Test func `calls its delegate for what leaves`() {
    let cache = NSCache<NSString, NSString>()
    let delegate = Delegate()
    cache.delegate = delegate
    cache.name = "pages"
    cache.countLimit = 1
    cache.setObject("one", forKey: "a")
    cache.setObject("two", forKey: "b")
    cache.removeObject(forKey: "b")
    #expect(delegate.evicted == ["one", "two"])
    #expect(delegate.cacheName == "pages")
  }

  @Test func `does not retain its delegate`() {
    let cache = NSCache<NSString, NSString>()
    do {
      let delegate = Delegate()
      cache.delegate = delegate
      #expect(cache.delegate === delegate)
    }
    #expect(cache.delegate == nil)
  }

  @Test func `may be subclassed`() {
    #expect(Loader().object(forKey: "x") == NSData(data: Data("x".utf8)))
  }
}
