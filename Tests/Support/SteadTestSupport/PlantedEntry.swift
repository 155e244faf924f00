import Foundation

/// What somebody has put at a name where a file belongs.
package enum PlantedEntry: CaseIterable, Sendable {
  case linkToFile, linkToDirectory, danglingLink, pipe, directory
}

/// Files that belong to nobody under test, and that planted entries lead to.
package struct PlantedTarget: Sendable {
  private let place: TemporaryDirectory
  private let content = Data("precious".utf8)

  package init() throws {
    place = try TemporaryDirectory()
    try content.write(to: place.file("file"))
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    try content.write(to: directory.file("file"))
  }

  /// A directory with one file.
  package var directory: URL { place.file("directory") }

  /// Replaces what has a name by a planted entry.
  package func plant(_ entry: PlantedEntry, at url: URL) throws {
    let files = FileManager.default
    try? files.removeItem(at: url)
    try files.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    switch entry {
    case .linkToFile: try files.createSymbolicLink(at: url, withDestinationURL: place.file("file"))
    case .linkToDirectory: try files.createSymbolicLink(at: url, withDestinationURL: directory)
    case .danglingLink:
      try files.createSymbolicLink(at: url, withDestinationURL: place.file("missing"))
    case .pipe:
      guard mkfifo(url.filePath, 0o600) == 0 else { throw POSIXError(.EIO) }
    case .directory:
      try files.createDirectory(at: url, withIntermediateDirectories: false)
      try content.write(to: url.file("file"))
    }
  }

  /// Whether all that planted links lead to is as it was made, and nothing was added.
  package var isUntouched: Bool {
    get throws {
      try place.names == ["file", "directory"] && Data(contentsOf: place.file("file")) == content
        && FileManager.default.contentsOfDirectory(atPath: directory.filePath) == ["file"]
        && Data(contentsOf: directory.file("file")) == content
    }
  }
}
