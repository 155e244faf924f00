import Foundation
import SteadFiles

/// A read-only domain in a property list that is owned by others, such as an administrator.
final class PlistLayer: Sendable {
  let url: URL
  private let path: String
  private let contents: DomainStore
  /// The file's status when it was last read, if any change since then would show in it.
  private let seen = ForkSafeLock(Seen.unknown)
  private let isFilled = ForkSafeLock(false)
  private let following = ForkSafeLock<PathWatch?>(nil)

  init(_ url: URL) {
    self.url = url
    path = url.path(percentEncoded: false)
    contents = DomainStore(
      inMemory: url.deletingPathExtension().lastPathComponent,
      options: DomainStore.Options(isReadOnly: true))
  }

  /// Watches the file. It ends with the layer.
  var watch: PathWatch? {
    get { following.withLock { $0 } }
    set {
      // The old one has its own locks, and is released once this one is free.
      var watch = newValue
      following.withLock { swap(&$0, &watch) }
    }
  }

  /// The last contents read; nil when the file is missing or empty.
  var store: DomainStore? { isFilled.withLock { $0 } ? contents : nil }

  /// Reads the file again, if it has changed.
  ///
  /// - Throws: When the file exists and cannot be read or isn't a dictionary. The last good contents stay in
  ///   effect, and the file is left unchanged.
  func load() throws {
    let found = try? Seen(path)
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
    seen.withLock { $0 = found ?? .unknown }
  }

  private enum Seen: Equatable, Sendable {
    case unknown, missing
    case file(FileStatus)

    init(_ path: String) throws {
      guard let status = try POSIXDisk().statusFollowingLinks(path) else {
        self = .missing
        return
      }
      let age = abs(status.changed.timeIntervalSinceNow)
      self = age > FileStatus.settlingTime ? .file(status) : .unknown
    }
  }

  private func fill(_ fields: PropertyList.Fields) throws {
    if PropertyList.Fields(contents.contents()) != fields {
      try contents.replaceContents(with: fields, isOwn: false)
    }
    isFilled.withLock { $0 = !fields.isEmpty }
  }
}
