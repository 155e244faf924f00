import Foundation

/// A directory for this user alone in a location where everyone may write, such as `/tmp`.
///
/// Another user may have created a directory or a link of that name, to read what is put there. So the entry
/// itself is checked, not what it leads to, and it is used only when it is a directory that belongs to this
/// user and that nobody else may enter.
enum PrivateDirectory {
  /// Creates the directory and its missing parents, but neither `home` nor that of the process.
  static func create(_ path: String, outside home: HomeDirectory, on disk: any Disk) throws {
    for home in [home, .process] { try home.checkPresence(for: path, on: disk) }
    try create(path, on: disk)
  }

  private static func create(_ path: String, on disk: any Disk) throws {
    let parent = path.directoryPath
    if try disk.statusFollowingLinks(parent) == nil { try create(parent, on: disk) }
    do {
      try disk.makeDirectory(path, mode: 0o700)
    } catch let error as FileError where error.code == .alreadyExists {
      if let problem = try problem(with: path, on: disk) {
        throw FileError(code: .denied, message: problem, path: path)
      }
    }
  }

  /// The reason not to use an existing directory; nil when it is safe.
  static func problem(with path: String, on disk: any Disk) throws -> String? {
    guard let found = try disk.status(at: path) else { return "The directory does not exist." }
    guard found.kind == .directory else { return "It isn't a directory." }
    guard found.user == geteuid() else { return "The directory belongs to another user." }
    guard found.mode & 0o777 == 0o700 else { return "Its permissions aren't 0700." }
    return nil
  }
}
