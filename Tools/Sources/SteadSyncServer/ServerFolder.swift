import Foundation

/// A folder that the server needs.
enum ServerFolder {
  /// Creates a folder and its missing parents, each for its owner alone, but not the home.
  ///
  /// A missing home isn't mounted yet. The files in it would be hidden once it is.
  ///
  /// Throws ``ServerError`` if the home does not exist.
  static func make(_ path: String) throws {
    let files = FileManager.default
    guard !files.fileExists(atPath: path) else { return }
    let folder = URL(filePath: path, directoryHint: .isDirectory).standardizedFileURL
    guard folder.path != files.homeDirectoryForCurrentUser.standardizedFileURL.path else {
      throw ServerError(
        .notFound, "The home directory does not exist, and is never created.",
        remedy: "Mount or create it, or name another directory.")
    }
    try make(folder.deletingLastPathComponent().path)
    // Another process or thread may create it first.
    try files.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }
}
