public import Foundation
public import SteadFiles
import SteadSQLite
import Synchronization

/// Values by keys in files that several processes share, within limits of size and age.
///
/// ```swift
/// let cache = DiskCache(named: "thumbnails", in: directories)
/// let image = try await cache.data(for: "cat", orLoad: { try await download("cat") })
/// ```
///
/// The least recently used entries go first, after expired ones. A value may be lost at any time,
/// by a limit, a power cut or a cleared directory, so keep nothing here that can't be made again. A
/// value that is found is the one that was set: all bytes are checked with a checksum.
///
/// A value that was set survives the end of the process, including `kill -9`. It is not synced to
/// the disk, so a power cut may lose it, or bring back the previous value.
///
/// A get of 10 KB costs some 9 us, a set some 70 (seen on two busy cores). Values from
/// ``fileThreshold`` on are separate files, and can be read and written in parts. Keys are compared
/// by their UTF-8.
///
/// It isn't for a few hundred small values that the program always needs, which are faster in one
/// file, nor for responses of HTTP, whose rules ``HTTPCache`` knows. ``LayeredCache`` puts memory
/// over it.
///
/// The cache never throws for its own failures. Without a writable directory, with a full disk, or
/// while a stopped process holds the lock, gets find nothing or only existing entries, sets return
/// false, and `Stead.onProblem` is called once for each kind of problem. All methods may be called
/// from any thread. In the child of a fork, a cache that the parent opened finds nothing.
public final class DiskCache: Sendable {
  /// The size in bytes from which a value is in a separate file.
  public static let fileThreshold = 128 << 10
  /// The maximum size in bytes of key, tags and metadata together; an entry with more is not
  /// stored.
  public static let headSizeLimit = 16 << 20

  /// How much the cache holds, and for how long.
  public let limits: Limits
  /// Where the cache's files are.
  public let directory: URL

  let database: CacheDatabase
  let loads = SingleFlight<String, LoadedValue>()
  let refreshes = RefreshLog()
  private let hits = Atomic<Int>(0)
  private let misses = Atomic<Int>(0)

  /// Opens a cache in a directory below an app's cache directory, creating it if it is missing.
  ///
  /// - Parameters:
  ///   - name: One path component, such as `thumbnails`.
  ///   - directories: The app's directories.
  ///   - limits: How much the cache holds, and for how long.
  public convenience init(
    named name: String, in directories: AppDirectories, limits: Limits = Limits()
  ) {
    // A name that would lead elsewhere isn't a usable directory; the cache reports that when it is
    // used.
    // 47 is a slash. A name that begins with a dot could be `..`, or hide the directory.
    let isComponent =
      !name.isEmpty && !name.hasPrefix(".") && !name.utf8.contains { $0 == 47 || $0 == 0 }
    self.init(
      path: isComponent
        ? try? directories.cache.appending(path: name, directoryHint: .isDirectory).checkedPath
        : nil,
      directory: directories.cache.appending(
        path: isComponent ? name : "", directoryHint: .isDirectory), limits: limits)
  }

  /// Opens a cache in its own directory, creating it if it is missing.
  ///
  /// The directory must belong to this user, be writable by no other user, and not be a symbolic
  /// link.
  public convenience init(directory: URL, limits: Limits = Limits()) {
    self.init(path: try? directory.checkedPath, directory: directory, limits: limits)
  }

  /// - Parameters:
  ///   - path: The directory; nil for one that can't be used.
  ///   - now: The wall-clock time.
  ///   - retryInterval: How long a cache that can't be opened waits before it tries again.
  package init(
    path: String?, directory: URL, limits: Limits, now: @escaping @Sendable () -> Date = { Date() },
    retryInterval: Duration = CacheDatabase.retryInterval
  ) {
    self.limits = limits
    self.directory = directory
    database = CacheDatabase(
      CacheDirectory(path: path ?? "", disk: POSIXDisk()), limits: limits, now: now,
      retryInterval: retryInterval)
  }

  // MARK: - Bytes

  /// Returns the bytes that were set for a key; nil if there are none, or if they have expired or
  /// are damaged.
  ///
  /// Counts as a use and as a hit or a miss. Waits for no other process, except while one recovers
  /// the log after a crash.
  public func data(for key: String) -> Data? {
    defer { database.report() }
    return count(find(key).flatMap { $0.contents })
  }

  /// Sets the bytes for a key, in one transaction.
  ///
  /// ```swift
  /// cache.setData(data, for: "cat", timeToLive: .seconds(3_600), tags: ["animals"])
  /// ```
  ///
  /// Evicts as many entries as the limits require. If another process is writing, it waits for half
  /// a second, and then gives up; the next ones don't wait until one has found the lock free. A
  /// load for the key that is running has no effect.
  ///
  /// - Parameters:
  ///   - timeToLive: How long they are valid; nil means as long as the cache's limits say.
  ///   - tags: Names that many entries may share, to remove them together.
  /// - Returns: Whether the bytes are stored. False leaves the cache as it was: if the entry is
  ///   larger than ``Limits/entrySizeLimit``, the disk is full, or another process keeps the cache
  ///   locked.
  @discardableResult
  public func setData(
    _ data: Data, for key: String, timeToLive: Duration? = nil, tags: Set<String> = []
  ) -> Bool {
    defer { database.report() }
    return setData(data, for: NewEntry(key, timeToLive: timeToLive, tags: tags)) != nil
  }

  /// Removes the entry of a key, and makes a running load for it have no effect.
  ///
  /// - Returns: Whether the key no longer has an entry. False if the disk is full, the directory
  ///   can't be used, or another process keeps the cache locked; then the entry remains.
  @discardableResult
  public func removeValue(for key: String) -> Bool {
    defer { database.report() }
    return removeValue(for: key, by: nil)
  }

  /// - Parameter origin: The object that makes the change, whose ``ChangeToken`` stays the same.
  func removeValue(for key: String, by origin: ChangeOrigin?) -> Bool {
    let removed: Void? = database.write(by: origin) { [loads] transaction, _ in
      // While the write lock is held: a load that ends later finds its ticket cancelled, and one
      // that ended before was in the transaction's rows.
      transaction.whenCommitted = { loads.forget(key) }
      try transaction.remove(transaction.rows(of: Data(key.utf8)))
    }
    return removed != nil
  }

  // MARK: - Contents and statistics

  /// The bytes of all entries: keys, tags, metadata and values, including expired entries.
  ///
  /// Reads a row of the database; 0 if the cache can't be used.
  public var totalSize: Int { state?.size ?? 0 }
  /// The number of entries, including expired ones.
  ///
  /// Reads a row of the database; 0 if the cache can't be used.
  public var count: Int { state?.count ?? 0 }
  /// What this object has found and removed since it was made.
  ///
  /// Reads counters in memory. Other objects over the same directory have their own.
  public var statistics: CacheStatistics {
    var statistics = CacheStatistics()
    statistics.hits = hits.load(ordering: .relaxed)
    // Each is read on its own: under concurrent requests the three may be of different moments.
    statistics.misses = misses.load(ordering: .relaxed)
    statistics.evictions = database.evictions.load(ordering: .relaxed)
    return statistics
  }

  private var state: (size: Int, count: Int)? {
    defer { database.report() }
    return database.read { reader, _ in
      let state = try reader.connection.statement("SELECT size, count FROM state")
      state.rewind()
      defer { state.rewind() }
      guard try state.step() else { return (0, 0) }
      return (Int(state.integer(0)), Int(state.integer(1)))
    }
  }

  /// Counts a hit or a miss.
  func count<Value>(_ found: Value?) -> Value? {
    if found == nil {
      misses.add(1, ordering: .relaxed)
    } else {
      hits.add(1, ordering: .relaxed)
    }
    return found
  }
}

// MARK: - Limits

extension DiskCache {
  /// How much a cache holds, for how long, and when values are loaded again.
  ///
  /// Limits belong to the object, not to the files: if several programs use one directory with
  /// different limits, each set enforces those of the program that makes it.
  public struct Limits: Sendable, Hashable {
    /// The bytes of all entries: keys, tags, metadata and values; 100 MiB.
    ///
    /// Never exceeded: entries that must go are removed in the transaction that adds the new one.
    /// The files take more, as Documentation/DiskCacheFile.md says.
    public var totalSizeLimit = 100 << 20
    /// The maximum number of entries; 1,000,000.
    public var countLimit = 1_000_000
    /// The bytes of one entry; a larger one is not stored. Nil means ``totalSizeLimit``.
    public var entrySizeLimit: Int?
    /// How long an entry that is set without a time to live is valid; nil means as long as there is
    /// space.
    public var timeToLive: Duration?
    /// How long an entry is valid after it was last set or found (`expireAfterAccess` of other
    /// caches); nil means that use makes no difference. It also expires after ``timeToLive``,
    /// however much it is used.
    ///
    /// It applies to entries that are set without a time to live of their own. A use is written
    /// down if the last one that was is an eighth of this time ago, so an entry may expire so much
    /// earlier, and also if the file could not be written at once. All objects over a directory
    /// need the same value.
    public var timeToIdle: Duration?
    /// After which time a request that could load a value has it loaded again in the background,
    /// while it gets the old one (`refreshAfterWrite` of other caches); nil means never. For the
    /// calls with `orLoad`.
    ///
    /// If the load throws, the error is dropped and the old value stays; a request after another
    /// eighth of this time tries again. One load runs for all requests of this object; other
    /// processes may load, too.
    public var refreshAfter: Duration?
    /// Whether to find entries that were stored in the future, by a clock that was wrong or set
    /// back since: for callers that judge the age of what they store themselves, as ``HTTPCache``
    /// does.
    var findsEntriesStoredLater = false

    /// Limits with the values that suit most apps.
    ///
    /// If the total size or the count is lower than the last time, entries are evicted at the first
    /// use of the cache.
    public init(
      totalSizeLimit: Int = 100 << 20, countLimit: Int = 1_000_000, entrySizeLimit: Int? = nil,
      timeToLive: Duration? = nil, timeToIdle: Duration? = nil, refreshAfter: Duration? = nil
    ) {
      self.totalSizeLimit = totalSizeLimit
      self.countLimit = countLimit
      self.entrySizeLimit = entrySizeLimit
      self.timeToLive = timeToLive
      self.timeToIdle = timeToIdle
      self.refreshAfter = refreshAfter
    }

    /// The maximum size of an entry in bytes.
    ///
    /// Never above the total limit: room for the entry could not be made.
    var largestEntry: Int { max(0, min(entrySizeLimit ?? totalSizeLimit, totalSizeLimit)) }
  }
}

// MARK: - Codable values

/// The coding of Codable values: JSON, with dates as seconds since 2001, data in base64, and
/// numbers that JSON lacks as the strings `inf`, `-inf` and `nan`.
///
/// JSON since it decodes faster than a property list here, and holds a date or a number of any
/// precision as it is.
enum ValueCoding {
  /// Nil when the value can't be encoded.
  static func encode<Value: Encodable>(_ value: Value) -> Data? {
    let encoder = JSONEncoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return try? encoder.encode(value)
  }

  /// Nil when the bytes are not a value of this type.
  static func decode<Value: Decodable>(_ bytes: Data) -> Value? {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return try? decoder.decode(Value.self, from: bytes)
  }
}

extension DiskCache {
  /// The value that was set for a key; nil if none is valid, or if it is of another type.
  ///
  /// Reads and decodes each time; ``LayeredCache`` keeps decoded values in memory.
  public func value<Value: Decodable>(_ type: Value.Type = Value.self, for key: String) -> Value? {
    defer { database.report() }
    return count(find(key)?.contents.flatMap { ValueCoding.decode($0) })
  }

  /// Sets the value for a key, as JSON.
  ///
  /// ```swift
  /// cache.setValue(profile, for: "me", timeToLive: .seconds(3_600))
  /// ```
  ///
  /// - Returns: Whether the value is stored. False leaves the cache as it was: for the reasons of
  ///   ``setData(_:for:timeToLive:tags:)``, and if the value can't be encoded.
  @discardableResult
  public func setValue<Value: Encodable>(
    _ value: Value, for key: String, timeToLive: Duration? = nil, tags: Set<String> = []
  ) -> Bool {
    guard let bytes = ValueCoding.encode(value) else { return false }
    return setData(bytes, for: key, timeToLive: timeToLive, tags: tags)
  }
}
