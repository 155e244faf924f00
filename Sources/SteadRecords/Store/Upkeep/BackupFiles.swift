import Foundation
import SteadFiles

/// The files of large values of a backup, copied while the store is in use.
struct BackupFiles {
  /// How often a file is looked for that a row refers to and that isn't found; with another look at the rows in between.
  static let lookLimit = 2

  private let source: BlobFiles
  private let target: BlobStore
  /// Whether the backup has made the directory.
  private let isNewDirectory: Bool
  private var copied: Set<String> = []
  /// Files that existed before.
  private let others: Set<String>
  private var looks: [String: Int] = [:]

  init(from source: BlobFiles, to directory: URL) throws {
    self.source = source
    target = BlobStore(directory: directory)
    isNewDirectory = try POSIXDisk().status(at: directory.path) == nil
    others = try target.references()
  }

  /// Which of the files that rows refer to are still to be copied.
  func missing(of references: some Collection<String>) -> [String] {
    references.filter { !copied.contains($0) && looks[$0, default: 0] < Self.lookLimit }
  }

  /// Copies files; one that no longer exists is left out.
  mutating func copy(_ references: [String], _ progress: StoreProgressReporter) throws {
    for (place, reference) in references.enumerated() {
      try progress.send(.copyingFiles, place, of: references.count)
      do {
        _ = try target.write(source.read(reference))
        copied.insert(reference)
      } catch let error as FileError
        where [.notFound, .damaged, .invalidName].contains(error.code)
      {
        looks[reference, default: 0] += 1
      }
    }
    try progress.send(.copyingFiles, references.count, of: references.count)
  }

  /// Ends the copying: files that no row of the backup refers to are removed, and those that the store lacks are reported.
  func finish(_ references: Set<String>, store: String) throws {
    for reference in copied where !references.contains(reference) && !others.contains(reference) {
      try target.remove(reference)
    }
    let lost = references.subtracting(copied).count
    guard lost > 0 else { return }
    Report.problem(
      .externalFileFailed, subject: store,
      message:
        "The backup lacks the files of \(lost) large values, which the store does not have, or not as they were "
        + "written. `check()` names the rows.")
  }

  /// Removes the copied files.
  func remove() {
    if isNewDirectory {
      try? FileManager.default.removeItem(at: target.directory)
    } else {
      for reference in copied where !others.contains(reference) { try? target.remove(reference) }
    }
  }
}
