import Foundation
import SteadFiles

/// How a store that is opened read only is read.
///
/// SQLite reads a store that has a write-ahead log with the help of a file next to it, which it creates if it's
/// missing.
enum StoreReading: Sendable {
  /// What the names of the directories of stores' copies begin with.
  static let directoryPrefix = "stead-copy-"

  /// With its log, as other processes write it.
  case shared
  /// Only the file, as it is: nothing has written since it was closed, and the file next to it cannot be created.
  case alone
  /// A copy of the file and its log, since the log can only be read with a file next to them.
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

  /// A store's file and log in a temporary directory, which is removed with the last reference.
  final class TemporaryCopy: Sendable {
    private let directory: ScratchDirectory
    let path: String

    init(of store: String) throws {
      do {
        directory = try ScratchDirectory(prefix: StoreReading.directoryPrefix)
        path = directory.url.appendingPathComponent("copy.store").path
        for suffix in ["", "-wal"] {
          try FileManager.default.copyItem(atPath: store + suffix, toPath: path + suffix)
          // A copy of a file that only its reader may read is writable for its index.
          chmod(path + suffix, 0o600)
        }
      } catch {
        throw SwiftDataError(
          .storageFailure,
          "The store's directory cannot be written and the store has a log, so it is read from a copy, which could not "
            + "be created in \(FileManager.default.temporaryDirectory.path). Free space there, or make the store's directory writable.",
          cause: error)
      }
    }
  }
}
