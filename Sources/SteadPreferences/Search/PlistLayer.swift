import Foundation
import SteadFiles

/// A read-only domain in a property list of others, such as an administrator.
///
/// Its contents are a domain in memory, so that observers get its changes like those of any other.
final class PlistLayer: Sendable {
  let url: URL
  private let path: String
  private let contents: DomainStore
  /// The file's status when it was last read; `.unknown` if a later change might have the same
  /// status.
  private let seen = ForkSafeLock(Seen.unknown)
  /// Whether the file has any keys.
  private let isFilled = ForkSafeLock(false)
  private let pathWatch = ForkSafeLock<PathWatch?>(nil)

  init(_ url: URL) {
    self.url = url
    path = url.path(percentEncoded: false)
    contents = DomainStore(
      inMemory: url.deletingPathExtension().lastPathComponent,
      options: DomainStore.Options(isReadOnly: true))
  }

  /// Watches the file. It ends with the layer.
  var watch: PathWatch? {
    get { pathWatch.withLock { $0 } }
    set {
      // The old one has its own locks, and is released once this one is free.
      var watch = newValue
      pathWatch.withLock { swap(&$0, &watch) }
    }
  }

  /// The last contents read; nil when the file is missing or empty.
  var store: DomainStore? { isFilled.withLock { $0 } ? contents : nil }

  // MARK: - Reading

  /// Reads the file if its status has changed.
  ///
  /// - Throws: When the file exists and cannot be read or is not a dictionary. The last good
  ///   contents stay in effect, and the file is left as it is: it belongs to others.
  func load() throws {
    let found = try? Seen(path)
    // `found` is nil when the status cannot be determined; reading says why.
    // With `.unknown` it is always read: the status may not show the next change.
    guard found == nil || found == .unknown || found != seen.withLock({ $0 }) else { return }
    let fields: PropertyList.Fields
    do {
      guard let data = try AtomicFile(url).readIfPresent() else {
        try fill([:])
        return seen.withLock { $0 = found == .missing ? .missing : .unknown }
      }
      fields = try PropertyList.fields(of: data)
    } catch {
      throw PreferencesError(
        code: .damaged,
        message: "The property list \(url.path(percentEncoded: false)) cannot be read. Correct it, "
          + "or remove it.", domain: contents.name, cause: error)
    }
    try fill(fields)
    // Last: after an error the file is read again by the next call.
    seen.withLock { $0 = found ?? .unknown }
  }

  /// What is known about the file.
  private enum Seen: Equatable, Sendable {
    case unknown, missing
    case file(FileStatus)

    init(_ path: String) throws {
      guard let status = try POSIXDisk().statusFollowingLinks(path) else {
        self = .missing
        return
      }
      // A change within the same tick of the file system's clock would have the same status.
      let age = abs(status.changed.timeIntervalSinceNow)
      self = age > FileStatus.settlingTime ? .file(status) : .unknown
    }
  }

  /// Replaces the contents if they differ, as a change by another process.
  private func fill(_ fields: PropertyList.Fields) throws {
    // An unchanged file must not report changes.
    if PropertyList.Fields(contents.contents()) != fields {
      try contents.replaceContents(with: fields, isOwn: false)
    }
    isFilled.withLock { $0 = !fields.isEmpty }
  }
}

// MARK: - Watching

/// Reports when certain files of a directory appear, change or disappear, even while the directory
/// is missing.
///
/// It watches the nearest existing ancestor for the next name on the path, and moves on when that
/// appears. All calls come from one background thread.
final class PathWatch: Sendable {
  private static let calls = SerialCalls()
  /// How often the target may change while the watch is being set up: directories may come and go
  /// meanwhile.
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

  /// Begins after a delay, for which a short-lived program does not have to pay.
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
    // The target is computed again after the watch has begun: what appeared before that was not
    // reported.
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

  /// The directory itself, or its nearest existing ancestor and the name to wait for there.
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
