import Foundation
import SteadFiles

/// Reports when files in a directory appear, change or disappear, even while the directory is missing.
///
/// It watches the nearest existing directory on the path, for the next name. All calls come from one
/// background thread.
final class PathWatch: Sendable {
  private static let calls = SerialCalls()
  /// How often the target of the watch may change while the watch is being set up.
  private static let attemptLimit = 8

  private struct Target: Equatable {
    var directory: String
    var names: Set<String>
  }

  private struct Watch {
    var target: Target
    var watcher: FileWatcher
  }

  private let directory: URL
  private let names: Set<String>
  private let onChange: @Sendable () -> Void
  private let current = ForkSafeLock<Watch?>(nil)

  init(_ directory: URL, names: Set<String>, onChange: @escaping @Sendable () -> Void) {
    self.directory = directory.standardizedFileURL
    self.names = names
    self.onChange = onChange
  }

  /// Begins after a delay, for which a short-lived program does not wait.
  func start() {
    Self.calls.call(after: DomainStore.watchingDelay) { [weak self] in
      guard let self, self.arm() else { return }
      // Changes before the watch are not reported.
      self.onChange()
    }
  }

  private func changed() {
    Self.calls.call { [weak self] in
      guard let self else { return }
      _ = self.arm()
      self.onChange()
    }
  }

  /// Watches the current target, and returns whether that is a new one.
  private func arm() -> Bool {
    var isNew = false
    for _ in 0..<Self.attemptLimit {
      let target = nearestTarget()
      let (watched, watcher) = current.withLock { ($0?.target, $0?.watcher) }
      // The watcher has its own lock: called under this one, it could wait for a fork forever.
      if watched == target, watcher?.isOver == false { return isNew }
      isNew = true
      let made = try? FileWatcher(
        directory: URL(filePath: target.directory, directoryHint: .isDirectory), names: target.names
      ) { [weak self] _ in self?.changed() }
      // Without a watch, changes are found by `synchronize()`.
      var next = made.map { Watch(target: target, watcher: $0) }
      current.withLock { swap(&$0, &next) }
      guard made != nil else { return isNew }
    }
    return isNew
  }

  private func nearestTarget() -> Target {
    var target = Target(directory: directory.path(percentEncoded: false), names: names)
    while target.directory.count > 1, !isDirectory(target.directory) {
      let url = URL(filePath: target.directory, directoryHint: .isDirectory)
      let parent = url.deletingLastPathComponent().path(percentEncoded: false)
      target = Target(directory: parent, names: [url.lastPathComponent])
    }
    return target
  }

  private func isDirectory(_ path: String) -> Bool {
    var isDirectory: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
      && isDirectory.boolValue
  }
}
