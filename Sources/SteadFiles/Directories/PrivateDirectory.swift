import Foundation

/// A directory in a place where everyone may write, such as `/tmp`, that is this user's alone.
///
/// Another user may have made one of that name, or a link, to read what is put there. So what is found
/// is looked at itself, not what it leads to, and is used only when it is a directory that belongs to
/// this user and that nobody else may enter.
enum PrivateDirectory {
  static func create(_ path: String, on disk: any Disk) throws {
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

  /// What speaks against using a directory that is there, nil when nothing does.
  static func problem(with path: String, on disk: any Disk) throws -> String? {
    guard let found = try disk.status(at: path) else { return "It does not exist." }
    guard found.kind == .directory else { return "It is not a directory." }
    guard found.user == geteuid() else { return "It belongs to another user." }
    guard found.mode & 0o777 == 0o700 else { return "Its permissions are not 0700." }
    return nil
  }
}
