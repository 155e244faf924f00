import Foundation
import SteadFiles

/// How a store that is opened read only is read.
///
/// SQLite reads a store that has a write-ahead log with the help of a file beside it, which it makes where it's missing.
enum StoreReading: Sendable {
  /// With its log, as others write it.
  case shared
  /// The file alone, as it is: nobody has written since it was closed, and the file beside it cannot be made.
  case alone
  /// A copy of the file and its log, which only a file beside them lets one read.
  case copy(TemporaryCopy)

  /// How the store at a path can be read by this process.
  init(of path: String) throws {
    let disk = POSIXDisk()
    guard let path = try? disk.resolveLinks(path), access(path.directoryPath, W_OK) != 0 else {
      self = .shared
      return
    }
    let log = try disk.status(at: path + "-wal")
    let hasIndex = try disk.status(at: path + "-shm") != nil
    switch (log?.size, hasIndex) {
    case (nil, _), (0, false): self = .alone
    case (_, true): self = .shared
    case (_, false): self = .copy(try TemporaryCopy(of: path))
    }
  }

  /// The file to open instead of a store's.
  func path(for path: String) -> String {
    if case .copy(let copy) = self { copy.path } else { path }
  }

  var isAlone: Bool { if case .alone = self { true } else { false } }

  /// A store's file and log in a directory of their own, which goes with the last reference.
  final class TemporaryCopy: Sendable {
    private let directory: TemporaryStoreDirectory
    let path: String

    init(of store: String) throws {
      do {
        directory = try TemporaryStoreDirectory()
        path = directory.url.appendingPathComponent("copy.store").path
        for suffix in ["", "-wal"] {
          try FileManager.default.copyItem(atPath: store + suffix, toPath: path + suffix)
          // A copy of a file that only its reader may read is writable for its index.
          chmod(path + suffix, 0o600)
        }
      } catch {
        throw SwiftDataError(
          .storageFailure,
          "The store's directory cannot be written and the store has a log, so that it is read from a copy, which could not "
            + "be made in \(FileManager.default.temporaryDirectory.path). Make room there, or make the directory writable.",
          cause: error)
      }
    }
  }
}
