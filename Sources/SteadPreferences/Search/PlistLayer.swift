import Foundation
import SteadFiles

/// A read-only domain in a property list that is owned by others, such as an administrator.
final class PlistLayer: Sendable {
  let url: URL
  private let contents: DomainStore
  private let isFilled = ForkSafeLock(false)
  private let following = ForkSafeLock<PathWatch?>(nil)

  init(_ url: URL) {
    self.url = url
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

  /// Reads the file again.
  ///
  /// - Throws: When the file exists and cannot be read or isn't a dictionary. The last good contents stay in
  ///   effect, and the file is left unchanged.
  func load() throws {
    let fields: PropertyList.Fields
    do {
      guard let data = try AtomicFile(url).readIfPresent() else { return try fill([:]) }
      fields = try PropertyList.fields(of: data)
    } catch {
      throw PreferencesError(
        code: .damaged,
        message: "The property list \(url.path(percentEncoded: false)) cannot be read. Correct it, "
          + "or remove it.", domain: contents.name, cause: error)
    }
    try fill(fields)
  }

  private func fill(_ fields: PropertyList.Fields) throws {
    if PropertyList.Fields(contents.contents()) != fields {
      try contents.replaceContents(with: fields, isOwn: false)
    }
    isFilled.withLock { $0 = !fields.isEmpty }
  }
}
