import CSteadFiles
import Foundation
import SteadFiles

/// The rights with which this process uses a cache's files: those of the files' owner.
///
/// The superuser may do everything, and links could lead it to do it anywhere: the owner of a directory decides what
/// its names lead to. So it opens, creates and removes files in a user's cache with that user's rights, and files that
/// it creates there belong to the user. Its supplementary groups stay. Costs eight system calls for each call of
/// ``use(_:)``, and nothing if the files are the process's own.
struct FileRights: Sendable {
  private let owner: stead_file_rights?

  /// The user who owns the files.
  var user: uid_t { owner?.user ?? geteuid() }

  /// The rights of the first user, other than the superuser, who owns a directory or a link on the way to a path, and
  /// so decides what the rest of it leads to.
  init(at path: String, disk: any Disk) throws {
    owner = geteuid() == 0 ? try Self.owner(of: path, disk) : nil
  }

  private static func owner(of path: String, _ disk: any Disk) throws -> stead_file_rights? {
    let parent = path.directoryPath
    if parent != path, let owner = try owner(of: parent, disk) { return owner }
    for found in [try disk.status(at: path), try disk.statusFollowingLinks(path)] {
      if let found, found.user != 0 {
        return stead_file_rights(user: found.user, group: found.group)
      }
    }
    return nil
  }

  /// Runs a body in which this thread has no other rights.
  ///
  /// - Throws: ``FileError`` `.denied` when the process can't take these rights, and what the body throws.
  func use<Result>(_ body: () throws -> Result) throws -> Result {
    guard let owner else { return try body() }
    var before = stead_file_rights()
    guard stead_file_rights_take(owner, &before) == 0 else { throw Self.refusal }
    defer { stead_file_rights_give_back(before) }
    return try body()
  }

  private static var refusal: FileError {
    FileError(
      code: .denied,
      message: "The cache's directory belongs to another user, whose rights the process can't use; "
        + "choose another directory.",
      path: "")
  }
}
