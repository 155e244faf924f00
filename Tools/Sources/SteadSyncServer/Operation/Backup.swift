import Foundation

extension SyncServer {
  /// Copies a server's data into a new directory while the server runs.
  ///
  /// It copies one state of the database, then the blobs and the keys. The blobs that records name are complete,
  /// because a blob is stored before its record. Costs the time to read and write all data.
  ///
  /// Throws ``ServerError`` for a PostgreSQL database, which has its own tools, and if the directory exists.
  public static func backUp(_ settings: ServerSettings, to directory: String) throws {
    guard case .sqlite(let path) = settings.location else {
      throw ServerError(
        .conflict, "The database is PostgreSQL's.",
        remedy: "Use pg_dump, and copy the data directory after it.")
    }
    let files = FileManager.default
    guard files.fileExists(atPath: path) else {
      throw ServerError(
        .notFound, "The data directory has no database.", remedy: "Check --data.")
    }
    guard !files.fileExists(atPath: directory) else {
      throw ServerError(
        .conflict, "The directory for the copy exists.", remedy: "Name a new one.")
    }
    try ServerFolder.make(directory)
    try SQLiteSession(path: path, writes: true).copy(to: directory + "/stead.sqlite")
    for name in ["blobs", "signing-keys.json"] {
      let source = "\(settings.directory)/\(name)"
      if files.fileExists(atPath: source) {
        try files.copyItem(atPath: source, toPath: "\(directory)/\(name)")
      }
    }
  }
}
