import SteadFiles

extension Stead.Problem.Code {
  /// A cache cannot use its directory, and returns misses.
  public static let cacheUnavailable = Self("cacheUnavailable")
  /// A cache's file was damaged, of another version or not a cache at all; it was created again, empty.
  public static let cacheDamaged = Self("cacheDamaged")
  /// A cache cannot store anything, since the disk is full.
  public static let cacheFull = Self("cacheFull")
  /// Another process keeps a cache locked, so nothing is stored.
  public static let cacheLocked = Self("cacheLocked")
}

/// What kept a cache from working, other than an error of SQLite or of the system.
struct CacheFailure: Error, CustomStringConvertible {
  let description: String

  static let inherited = CacheFailure(
    description:
      "The cache was opened before this process was forked; open it in a newly started process.")
  static let invalidPlace = CacheFailure(
    description:
      "The cache's name isn't one path component, or its URL isn't a file URL; use another one.")
  static let logTooLong = CacheFailure(
    description:
      "A process that reads the cache has stopped, so its log cannot be reset; let it continue, or end it."
  )
  static let unknownFile = CacheFailure(
    description: "The file isn't a cache of this version of the library.")
}
