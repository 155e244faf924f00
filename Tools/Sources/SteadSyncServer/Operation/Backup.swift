import Foundation

extension SyncServer {
  /// Copies what a server keeps into a new directory, while it runs.
  ///
  /// The database is copied as one transaction sees it, then the blobs and the keys: a blob that a record names is there, since
  /// blobs are stored first. Costs as much time as the data takes to read and write.
  ///
  /// Throws ``ServerError`` if the database is PostgreSQL's, which has tools of its own, and if the directory exists.
  public static func backUp(_ settings: ServerSettings, to directory: String) throws {
    guard case .sqlite(let path) = settings.location else {
      throw ServerError(
        .conflict, "The database is PostgreSQL's.",
        remedy: "Use pg_dump, and copy the data directory after it.")
    }
    let files = FileManager.default
    guard files.fileExists(atPath: path) else {
      throw ServerError(
        .notFound, "There is no database in the data directory.", remedy: "Check --data.")
    }
    guard !files.fileExists(atPath: directory) else {
      throw ServerError(
        .conflict, "The directory for the copy exists.", remedy: "Name a new one.")
    }
    try files.createDirectory(
      atPath: directory, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try SQLiteSession(path: path, writes: true).copy(to: directory + "/stead.sqlite")
    for name in ["blobs", "signing-keys.json"] {
      let source = "\(settings.directory)/\(name)"
      if files.fileExists(atPath: source) {
        try files.copyItem(atPath: source, toPath: "\(directory)/\(name)")
      }
    }
  }
}
