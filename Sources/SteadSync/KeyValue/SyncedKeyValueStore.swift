public import Foundation
import SteadFiles
import SteadFormats
internal import SteadSyncProtocol
import Synchronization

#if !canImport(Darwin)
  /// The name that this class has on Apple's systems.
  public typealias NSUbiquitousKeyValueStore = SyncedKeyValueStore

  /// Why values have changed: the key of a number in a notification's `userInfo`.
  public let NSUbiquitousKeyValueStoreChangeReasonKey = SyncedKeyValueStore.changeReasonKey
  /// Which keys have changed: the key of an array of strings in a notification's `userInfo`.
  public let NSUbiquitousKeyValueStoreChangedKeysKey = SyncedKeyValueStore.changedKeysKey
  /// Another device has changed values.
  public let NSUbiquitousKeyValueStoreServerChange = SyncedKeyValueStore.serverChange
  /// The account's values have arrived for the first time.
  public let NSUbiquitousKeyValueStoreInitialSyncChange = SyncedKeyValueStore.initialSyncChange
  /// A value was not set, because the store would exceed its limit.
  public let NSUbiquitousKeyValueStoreQuotaViolationChange =
    SyncedKeyValueStore.quotaViolationChange
  /// The device now uses another account.
  public let NSUbiquitousKeyValueStoreAccountChange = SyncedKeyValueStore.accountChange
#endif

/// Small values that all devices of an account share, with the API of Apple's `NSUbiquitousKeyValueStore`.
///
/// Values are property lists. A store holds at most 1 MB and 1,024 keys of at most 64 bytes; one value may have 1 MB.
/// A value beyond these limits is not set. ``didChangeExternallyNotification`` is then posted with the reason
/// `NSUbiquitousKeyValueStoreQuotaViolationChange`.
///
/// A change is saved at once, in one transaction of a SQLite file, and sent if a ``SyncEngine`` has the store. Of two
/// changes of one key, the later one wins. Several processes may use one file. Setting a value costs about 0.1 ms;
/// getting one costs a check whether another process has changed anything.
///
/// All calls may come from any thread. They block for the file: a change waits up to 10 s for a process that is
/// writing. No call throws, as in Apple's API. What fails is reported to `Stead.onProblem` with the code
/// `syncFailed`, and reads as a missing value.
///
/// ```swift
/// let settings = SyncedKeyValueStore.default
/// settings.set("dark", forKey: "theme")
/// let engine = try SyncEngine(keyValueStores: ["fedcba9876543210fedcba9876543210": settings], transport: transport)
/// ```
public final class SyncedKeyValueStore: Sendable {
  /// Posted after an engine of this process has fetched new values, and after a value was too large to be set. The
  /// next read returns another process's changes; they post no notification.
  public static let didChangeExternallyNotification = Notification.Name(
    "NSUbiquitousKeyValueStoreDidChangeExternallyNotification")
  /// The key of the change's reason, a number, in a notification's `userInfo`.
  public static let changeReasonKey = "NSUbiquitousKeyValueStoreChangeReasonKey"
  /// The key of the changed keys, an array of strings, in a notification's `userInfo`.
  public static let changedKeysKey = "NSUbiquitousKeyValueStoreChangedKeysKey"
  /// The reason of values that another device has changed.
  public static let serverChange = 0
  /// The reason of values that have arrived with the first fetch.
  public static let initialSyncChange = 1
  /// The reason of a value that was not set, since it is beyond a limit.
  public static let quotaViolationChange = 2
  /// The reason of values of another account. Never posted: a store belongs to the zone that the engine gives it.
  public static let accountChange = 3

  /// The app's store, in its data directory. If the directory can't be used, the values are in memory and are lost
  /// with the process; this is reported once.
  public static let `default`: SyncedKeyValueStore = {
    do {
      return try SyncedKeyValueStore(file: defaultFile())
    } catch {
      SyncReport.problem("The store of shared values is in memory only: \(error)")
      return inMemory()
    }
  }()

  /// The file of the values; nil if not even a database in memory could be opened.
  let zone: KeyValueZoneFile?
  /// Notified when an engine of this process has fetched new values.
  let arrivals = ListenerList()

  /// Opens or creates a store in a file, which only its owner may read. SQLite puts its log next to it, with the
  /// endings `-wal` and `-shm`.
  ///
  /// Open a file once in a process: two objects of one file don't tell each other of changes, but each finds them at
  /// its next call.
  ///
  /// - Throws: ``SyncError/newerFormat(found:known:)`` if a later version has made the file, a `FileError` if it
  ///   can't be created, and the errors of opening a SQLite file.
  public init(file: URL) throws { zone = try KeyValueZoneFile(file) }

  private init(zone: KeyValueZoneFile?) { self.zone = zone }

  /// A store in memory, whose values are lost with the object; for tests. Each call makes a store of its own.
  public static func inMemory() -> SyncedKeyValueStore {
    // An SQLite database in memory fails to open only if no memory is left.
    SyncedKeyValueStore(zone: try? KeyValueZoneFile(nil))
  }

  /// The file of the default store. A program without a bundle has its process's name instead of an identifier.
  private static func defaultFile() throws -> URL {
    let id = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
    return try AppDirectories(id: id).create(\.data).appending(path: "shared-values.sqlite")
  }

  // MARK: - Getting

  /// The value of a key as it is sent.
  private func value(forKey key: String) -> SyncValue? { all[key] }

  /// All values. The API that this class has in common with Apple's doesn't throw, so an error is reported, and reads
  /// as an empty store.
  private var all: [String: SyncValue] {
    do {
      return try zone?.all() ?? [:]
    } catch {
      SyncReport.problem("Shared values cannot be read: \(error)")
      return [:]
    }
  }

  /// The value of a key as a property list: a string, number, Boolean, date, data, array or dictionary. Nil if the
  /// key has none, or one that a later version of this package has written.
  public func object(forKey key: String) -> Any? {
    value(forKey: key).flatMap { PropertyList(wire: $0)?.anyValue }
  }

  /// The string of a key; nil if it has none.
  public func string(forKey key: String) -> String? { object(forKey: key) as? String }

  /// The array of a key; nil if it has none.
  public func array(forKey key: String) -> [Any]? { object(forKey: key) as? [Any] }

  /// The dictionary of a key; nil if it has none.
  public func dictionary(forKey key: String) -> [String: Any]? {
    object(forKey: key) as? [String: Any]
  }

  /// The data of a key; nil if it has none.
  public func data(forKey key: String) -> Data? { object(forKey: key) as? Data }

  /// The whole number of a key; 0 if it has none. A fraction is cut off; a number beyond 64 bits is 0.
  public func longLong(forKey key: String) -> Int64 {
    switch value(forKey: key) {
    case .int(let number): number
    // Not a plain conversion, which traps beyond 64 bits.
    case .double(let number): Int64(exactly: number.rounded(.towardZero)) ?? 0
    case .bool(let flag): flag ? 1 : 0
    default: 0
    }
  }

  /// The number of a key; 0 if it has none.
  public func double(forKey key: String) -> Double {
    switch value(forKey: key) {
    case .int(let number): Double(number)
    case .double(let number): number
    case .bool(let flag): flag ? 1 : 0
    // Numbers beyond 63 bits, and those that aren't finite, are objects on the wire.
    default: (object(forKey: key) as? NSNumber)?.doubleValue ?? 0
    }
  }

  /// The Boolean of a key, or whether its number isn't 0; false if it has neither.
  public func bool(forKey key: String) -> Bool { double(forKey: key) != 0 }

  /// All values by their keys. Each call converts all of them, so keep the result.
  public var dictionaryRepresentation: [String: Any] {
    all.compactMapValues { PropertyList(wire: $0)?.anyValue }
  }

  // MARK: - Setting

  /// Sets a property list, or removes the value if it is nil. A value that isn't a property list is not set, and is
  /// reported.
  ///
  /// Saved when this returns: costs one transaction, and none of the network. Setting an equal value makes no edit,
  /// so it doesn't win against another device. A value, a store or a key beyond the limits is not set;
  /// ``didChangeExternallyNotification`` is posted with ``quotaViolationChange`` before this returns.
  public func set(_ object: Any?, forKey key: String) {
    guard let object else { return removeObject(forKey: key) }
    let list: PropertyList
    do {
      list = try PropertyList(validating: object)
    } catch {
      return SyncReport.problem("The value of a shared key was not set: \(error)")
    }
    put(list.wireValue, key)
  }

  /// Sets a string, or removes the value if it is nil.
  public func set(_ string: String?, forKey key: String) { set(string as Any?, forKey: key) }
  /// Sets data, or removes the value if it is nil.
  public func set(_ data: Data?, forKey key: String) { set(data as Any?, forKey: key) }
  /// Sets an array of property lists, or removes the value if it is nil.
  public func set(_ array: [Any]?, forKey key: String) { set(array as Any?, forKey: key) }
  /// Sets a dictionary of property lists, or removes the value if it is nil.
  public func set(_ dictionary: [String: Any]?, forKey key: String) {
    set(dictionary as Any?, forKey: key)
  }
  /// Sets a whole number.
  public func set(_ value: Int64, forKey key: String) { put(.int(value), key) }
  /// Sets a number.
  public func set(_ value: Double, forKey key: String) { set(value as Any?, forKey: key) }
  /// Sets a Boolean.
  public func set(_ value: Bool, forKey key: String) { put(.bool(value), key) }

  /// Removes the value of a key. A removal is an edit like any other: if another device sets the key without having
  /// seen it, the key has that value afterwards.
  public func removeObject(forKey key: String) { put(nil, key) }

  /// Sets or removes a value. Returns whether that was possible; if not, it is reported, or posted as a quota
  /// violation.
  @discardableResult
  func put(_ value: SyncValue?, _ key: String) -> Bool {
    do {
      guard try zone?.set(value, forKey: key) != nil else { return true }
      // Apple's systems also treat a key that no store could have as a quota violation.
      notify(Self.quotaViolationChange, [key])
    } catch {
      SyncReport.problem("A shared value was not saved: \(error)")
    }
    return false
  }

  /// Returns whether the values can be read. There is nothing to wait for: each change is saved before its call
  /// returns, and sent by the engine when it can.
  @discardableResult
  public func synchronize() -> Bool { (try? zone?.all()) != nil }

  // MARK: - Notifications

  /// Posts ``didChangeExternallyNotification`` on the calling thread.
  func notify(_ reason: Int, _ keys: [String]) {
    // A value that was not set has changed nothing.
    if reason != Self.quotaViolationChange { arrivals.notify() }
    NotificationCenter.default.post(
      name: Self.didChangeExternallyNotification, object: self,
      userInfo: [Self.changeReasonKey: reason, Self.changedKeysKey: keys])
  }
}

// MARK: - Listeners

/// Handlers that are called on each ``notify()``, on its caller's thread.
final class ListenerList: Sendable {
  final class Listener: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private struct Weak: Sendable { weak var listener: Listener? }
  private let listeners = Mutex<[Weak]>([])

  /// Registers a handler for the lifetime of the returned object.
  func add(_ body: @escaping @Sendable () -> Void) -> Listener {
    let listener = Listener(body)
    listeners.withLock { list in
      // Released listeners leave the list here, since they don't know it. So it can't grow without end.
      list.removeAll { $0.listener == nil }
      list.append(Weak(listener: listener))
    }
    return listener
  }

  /// Calls the handlers, outside the lock: a handler may register or release others.
  func notify() {
    let present = listeners.withLock { $0.compactMap(\.listener) }
    for listener in present { listener.body() }
  }
}
