import Foundation
import Synchronization

/// An empty directory of a test's own, which goes when the last reference to it does.
///
/// A domain of preferences that is released later writes its files again, with the directory. What is there again goes when the
/// program ends.
package final class TemporaryDirectory: Sendable {
  package let url: URL

  /// - Parameters:
  ///   - inMemory: Where the system has a file system in memory, the directory is there.
  ///   - parent: A directory that goes later, with what is made in this one while it goes.
  package init(inMemory: Bool = false, in parent: TemporaryDirectory? = nil) throws {
    let name = "stead-tests-\(UUID().uuidString)"
    let place = parent?.url ?? Self.place(inMemory: inMemory)
    url = place.appending(path: name, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    Self.removeAtEnd(url)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  private static func place(inMemory: Bool) -> URL {
    let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
    if inMemory, access(memory.filePath, W_OK) == 0 { return memory }
    return FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
  }

  /// The directories of this process; a child that was forked has the same, and must leave them.
  private static let made = Mutex<(process: pid_t, all: [URL])>((0, []))

  private static func removeAtEnd(_ url: URL) {
    let isFirst = made.withLock { made in
      made.all.append(url)
      guard made.process == 0 else { return false }
      made.process = getpid()
      return true
    }
    guard isFirst else { return }
    atexit {
      let (process, all) = TemporaryDirectory.made.withLock { $0 }
      guard process == getpid() else { return }
      // Twice, since a thread that still writes may keep a directory from being empty for a moment.
      for _ in 0..<2 { for url in all { try? FileManager.default.removeItem(at: url) } }
    }
  }

  package func file(_ name: String) -> URL { url.file(name) }

  /// All names, hidden ones included.
  package var names: Set<String> {
    get throws { Set(try FileManager.default.contentsOfDirectory(atPath: url.filePath)) }
  }
}

extension URL {
  package var filePath: String { path(percentEncoded: false) }

  package func file(_ name: String) -> URL {
    appending(path: name, directoryHint: .notDirectory)
  }

  package var mode: Int {
    get throws {
      let attributes = try FileManager.default.attributesOfItem(atPath: filePath)
      return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }
  }

  package func setMode(_ mode: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: filePath)
  }

  package var isSymbolicLink: Bool {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: filePath)) != nil
  }
}
