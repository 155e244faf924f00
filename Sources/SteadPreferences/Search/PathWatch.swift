import Dispatch
import Foundation
import SteadFiles

/// Tells when files in a directory come, change or go, also while the directory itself is missing.
///
/// What is watched is the nearest directory on the way that is there, for the next name. All calls come
/// from one background queue.
final class PathWatch: Sendable {
  private static let queue = DispatchQueue(label: "stead.preferences.search", qos: .utility)
  /// How often the place to watch may change while the watch is being set up.
  private static let attemptLimit = 8

  private struct Place: Equatable {
    var directory: String
    var names: Set<String>
  }

  private struct Watch {
    var place: Place
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

  /// Begins after a moment: a program that is done by then has not waited for it.
  func start() {
    Self.queue.asyncAfter(deadline: .now() + DomainStore.watchingDelay) { [weak self] in
      guard let self, self.arm() else { return }
      // What came before the watch is not told.
      self.onChange()
    }
  }

  private func changed() {
    Self.queue.async { [weak self] in
      guard let self else { return }
      _ = self.arm()
      self.onChange()
    }
  }

  /// Watches the place that is right now, and says whether that is a new one.
  private func arm() -> Bool {
    var isNew = false
    for _ in 0..<Self.attemptLimit {
      let place = nearestPlace()
      let (watched, watcher) = current.withLock { ($0?.place, $0?.watcher) }
      // The watcher has a lock of its own: asked under this one, it could wait for a fork for ever.
      if watched == place, watcher?.isOver == false { return isNew }
      isNew = true
      let made = try? FileWatcher(
        directory: URL(filePath: place.directory, directoryHint: .isDirectory), names: place.names
      ) { [weak self] _ in self?.changed() }
      // Without a watch, changes are found at `synchronize()`.
      var next = made.map { Watch(place: place, watcher: $0) }
      current.withLock { swap(&$0, &next) }
      guard made != nil else { return isNew }
    }
    return isNew
  }

  private func nearestPlace() -> Place {
    var place = Place(directory: directory.path(percentEncoded: false), names: names)
    while place.directory.count > 1, !isDirectory(place.directory) {
      let url = URL(filePath: place.directory, directoryHint: .isDirectory)
      let parent = url.deletingLastPathComponent().path(percentEncoded: false)
      place = Place(directory: parent, names: [url.lastPathComponent])
    }
    return place
  }

  private func isDirectory(_ path: String) -> Bool {
    var isDirectory: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
      && isDirectory.boolValue
  }
}
