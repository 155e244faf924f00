import Foundation
import SteadFiles
import SteadFormats

/// Makes a journal's first checkpoint from the property list file, if one exists.
struct CheckpointLoader {
  let plist: URL
  let isReadOnly: Bool
  let problems: DomainFile.Problems

  /// The checkpoint; an empty one when the file does not exist or does not parse.
  func load() throws -> Journal.Checkpoint {
    guard let data = try DomainFile.plainFile(plist).readIfPresent() else {
      return try checkpoint([:], .none)
    }
    let fingerprint = PublishedFile.Fingerprint(data)
    do {
      return try checkpoint(PropertyList.fields(of: data), fingerprint, KeyStamps(file: data))
    } catch {
      try keepAside(data, error)
      return try checkpoint([:], fingerprint)
    }
  }

  private func checkpoint(
    _ fields: PropertyList.Fields, _ fingerprint: PublishedFile.Fingerprint,
    _ stamps: KeyStamps? = nil
  ) throws -> Journal.Checkpoint {
    let published = PublishedFile(
      current: .init(fingerprint: fingerprint, mark: nil), previous: .none)
    let bytes = try BinaryPropertyList.encode(fields)
    return Journal.Checkpoint(
      bytes: stamps?.added(to: bytes) ?? bytes, metadata: published.metadata)
  }

  private func keepAside(_ data: Data, _ cause: any Error) throws {
    let name = plist.lastPathComponent
    guard !isReadOnly else {
      throw PreferencesError(
        code: .damaged, message: "\(name) does not parse. Repair it or move it away.", cause: cause)
    }
    let kept = try AsideFile(of: plist).keep(data)
    problems.add(
      PreferencesError(
        code: .damaged,
        message:
          "The property list \(name) does not parse, and no journal exists to restore it from. "
          + "It is kept as \(kept); put it back, repaired, to get its values.", cause: cause))
  }
}
