import Foundation
import SteadFiles
import SteadFormats

/// A checkpoint, and its property list file, which is written but has yet to take its name.
struct CheckpointDraft {
  let checkpoint: Journal.Checkpoint
  let file: PreparedFile
  /// Distinguishes the file from an edited one. It is in the journal before the file has its name.
  let published: PublishedFile
  /// Whether the replaced file was written here, with a date that no later write produces.
  private let replacesOwn: Bool

  /// Writes the file, in the domain's format.
  ///
  /// - Parameter domain: Knows which file to replace.
  init(of table: DomainTable, for domain: DomainFile) throws {
    let bytes = try BinaryPropertyList.encode(table.fields())
    let stamps = domain.sources.stamps
    let stamped = stamps.added(to: bytes)
    let text = domain.options.format == .xml ? domain.xml(table, stamps) ?? stamped : stamped
    var target = AtomicFile(domain.plist)
    // The store waits, and lets others read meanwhile.
    target.lockWait = .zero
    replacesOwn = domain.onDisk == domain.published.current && domain.onDisk.mark?.isFine == true
    file = try target.prepare(text)
    published = PublishedFile(
      current: .init(fingerprint: .init(text), mark: .init(file.status)), previous: domain.onDisk)
    checkpoint = Journal.Checkpoint(bytes: stamped, metadata: published.metadata)
  }

  /// Whether a file is the one to be replaced. It is read if its date isn't conclusive.
  func isExpected(_ found: FoundFile) throws -> Bool {
    let old = published.previous
    guard let status = found.status else { return old.fingerprint == .none }
    if replacesOwn, old.mark == .init(status), old.fingerprint.byteCount == status.size {
      return true
    }
    return try .init(found.contents()) == old.fingerprint
  }
}

extension DomainFile {
  /// nil, and an error to be reported once, when XML cannot hold a value: otherwise the log would grow without
  /// end.
  func xml(_ table: DomainTable, _ stamps: KeyStamps? = nil) -> Data? {
    do {
      let xml = try PropertyList.dictionary(.init(table.fields())).data(format: .xml)
      isToldOfFormat = false
      return stamps?.added(toXML: xml) ?? xml
    } catch {
      if !isToldOfFormat {
        problems.add(
          PreferencesError(
            code: .notAPropertyList,
            message:
              "XML cannot hold all values of the domain, so the property list is written in the "
              + "binary format. Remove control characters from strings, and dates whose year has "
              + "more than 9 digits, or choose the binary format.",
            domain: name, cause: error))
      }
      isToldOfFormat = true
      return nil
    }
  }
}
