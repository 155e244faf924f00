import CSteadSQLite
import SteadFiles
import SteadSQLite
import Synchronization

extension Stead.Problem.Code {
  /// A cache cannot use its directory, and returns misses.
  public static let cacheUnavailable = Self("cacheUnavailable")
  /// A cache's file was damaged, of another version or not a cache at all; it was created again,
  /// empty.
  public static let cacheDamaged = Self("cacheDamaged")
  /// A cache cannot store anything, since the disk is full.
  public static let cacheFull = Self("cacheFull")
  /// Another process keeps a cache locked, so nothing is stored.
  public static let cacheLocked = Self("cacheLocked")
}

/// Why a cache doesn't work, other than an error of SQLite or of the system.
struct CacheFailure: Error, CustomStringConvertible {
  let description: String

  static let inherited = CacheFailure(
    description:
      "The cache was opened before this process was forked; open it in a newly started process.")
  static let invalidPath = CacheFailure(
    description:
      "The cache's name isn't one path component, or its URL isn't a file URL; use another one.")
  static let logTooLong = CacheFailure(
    description:
      "A process that reads the cache has stopped, so its log cannot be reset; let it continue, or end it."
  )
  static let unknownFile = CacheFailure(
    description: "The file isn't a cache of this version of the library.")
}

extension CacheFailure {
  /// Whether an error means that the file isn't a cache's database any more, so that an empty one
  /// must replace it.
  static func isDamage(_ error: any Error) -> Bool {
    guard let error = error as? SQLiteError else {
      // A `FileError` is of the disk or the rights, which a new file would not change.
      return (error as? CacheFailure)?.description == unknownFile.description
    }
    switch error.kind {
    // A statement that can't be prepared, or a constraint that doesn't hold, means other tables
    // than ours.
    case .damaged, .constraint, .view: return true
    case .other: return error.code & 0xff == SQLITE_ERROR
    case .disk: return error.isOfShortFile  // A page that isn't there.
    default: return false
    }
  }
}

// MARK: - Reports

/// Problems that wait until no lock is held, since ``Stead/onProblem`` is the program's code; one
/// of each code is reported.
final class ProblemQueue: Sendable {
  /// What keeps a cache from working, as its user is told.
  enum Kind {
    case unavailable, damaged, full, locked

    fileprivate var code: Stead.Problem.Code {
      switch self {
      case .unavailable: .cacheUnavailable
      case .damaged: .cacheDamaged
      case .full: .cacheFull
      case .locked: .cacheLocked
      }
    }

    fileprivate var message: String {
      switch self {
      case .unavailable:
        "The cache can't be used, and finds nothing until the cause is removed."
      case .damaged: "The cache's file can't be read; an empty one replaces it."
      case .full: "The disk is full, so nothing is stored; free some space on it."
      case .locked:
        "Another process keeps the cache locked, so nothing is stored; let it continue, or end it."
      }
    }
  }

  private struct State {
    var waiting: [Stead.Problem] = []
    var known: Set<Stead.Problem.Code> = []
  }

  private let path: String
  private let state = ForkSafeLock(State())
  /// Spares a call without problems the lock.
  private let hasSome = Atomic<Bool>(false)

  /// - Parameter path: The directory of the cache, which the problems name.
  init(path: String) { self.path = path }

  func enqueue(_ kind: Kind, _ cause: any Error) {
    let problem = Stead.Problem(
      code: kind.code, product: .caches, subject: path, message: kind.message, cause: cause)
    state.withLock { state in
      // Once for each code: a cache on a full disk fails with every set.
      if state.known.insert(problem.code).inserted { state.waiting.append(problem) }
    }
    // After the append: a thread that sees the flag finds the problem.
    hasSome.store(true, ordering: .releasing)
  }

  /// Reports what has gone wrong since the last call. Called while no lock is held.
  func report() {
    guard hasSome.exchange(false, ordering: .acquiring) else { return }
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for problem in waiting { Stead.report(problem) }
  }
}
