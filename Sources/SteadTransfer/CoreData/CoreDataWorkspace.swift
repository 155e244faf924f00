import Foundation
import SteadFiles

/// A directory of this user's alone for the copy of a store, which goes with it.
///
/// It is locked while it is in use. So a directory of a process that was killed, which holds the user's
/// data, is known by its free lock, and the next import removes it.
final class CoreDataWorkspace: Sendable {
  /// The prefix of such directories' names.
  static let prefix = "stead-import-"
  /// How often a directory is made again because another import took it for one that was left.
  static let attemptLimit = 100

  let url: URL
  private let descriptor: Int32
  private static let disk = POSIXDisk()

  /// Makes a directory, and removes those that killed processes have left.
  ///
  /// - Parameter place: The directory to make it in.
  init(in place: URL = FileManager.default.temporaryDirectory) throws {
    Self.removeStale(in: place)
    for _ in 0..<Self.attemptLimit {
      let path = try Self.make(in: place)
      // Another import may hold the lock to remove it, or have done so, until it is locked here.
      guard let descriptor = try Self.openIfPresent(path) else { continue }
      if try Self.disk.lock(descriptor, wait: true, path: path), Self.isSame(descriptor, path) {
        url = URL(filePath: path, directoryHint: .isDirectory)
        self.descriptor = descriptor
        return
      }
      Self.disk.close(descriptor)
    }
    throw TransferError(
      code: .failed,
      message: "No directory for a copy could be kept in \(place.path). Set TMPDIR to another one.")
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
    Self.disk.close(descriptor)
  }

  private static func make(in place: URL) throws -> String {
    // mkdtemp puts letters of its own instead of the six X at the end, which it requires.
    var template = Array(place.appending(path: "\(prefix)XXXXXX").path.utf8CString)
    guard mkdtemp(&template) != nil else {
      throw FileError(errno: errno, doing: "make a directory for a copy in", path: place.path)
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func openIfPresent(_ path: String) throws -> Int32? {
    do {
      return try disk.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, mode: 0)
    } catch let error as FileError where error.code == .notFound {
      return nil
    }
  }

  private static func isSame(_ descriptor: Int32, _ path: String) -> Bool {
    var (open, named) = (stat(), stat())
    return fstat(descriptor, &open) == 0 && lstat(path, &named) == 0
      && open.st_ino == named.st_ino && open.st_dev == named.st_dev
  }

  /// Removes directories of this user whose process has ended.
  ///
  /// A directory that can't be removed is left: it doesn't disturb an import.
  private static func removeStale(in place: URL) {
    for name in (try? disk.names(in: place.path)) ?? [] where name.hasPrefix(prefix) {
      let path = place.appending(path: name).path
      var status = stat()
      guard lstat(path, &status) == 0, status.st_uid == geteuid(),
        let descriptor = try? disk.open(
          path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, mode: 0)
      else { continue }
      defer { disk.close(descriptor) }
      guard (try? disk.lock(descriptor, wait: false, path: path)) == true,
        isSame(descriptor, path)
      else { continue }
      try? FileManager.default.removeItem(atPath: path)
    }
  }
}
