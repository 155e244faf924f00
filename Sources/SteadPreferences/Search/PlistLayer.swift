import Foundation
import SteadFiles

/// A property list that somebody else keeps, an administrator for one, as a domain that is only read.
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

  /// What follows the file. It ends with the layer.
  var watch: PathWatch? {
    get { following.withLock { $0 } }
    set {
      // The old one has locks of its own, and goes when this one is free again.
      var watch = newValue
      following.withLock { swap(&$0, &watch) }
    }
  }

  /// What was last read, nil when there is no file, or an empty one.
  var store: DomainStore? { isFilled.withLock { $0 } ? contents : nil }

  /// Reads the file again.
  ///
  /// - Throws: When the file is there and cannot be read or is no dictionary. What was read before
  ///   goes on to count, and the file is left as it is.
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
