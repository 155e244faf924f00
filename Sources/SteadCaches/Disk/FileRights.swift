import CSteadFiles
import Foundation
import SteadFiles

/// The rights with which this process uses the files of a cache: those of the user whose they are.
///
/// The superuser may do everything, and could be led by links to do it anywhere: the owner of a directory decides
/// what its names lead to. So it has no more rights in a user's cache than that user, and what it makes there is the
/// user's. Costs six system calls for each call of ``use(_:)``, and nothing where the files are the process's own.
struct FileRights: Sendable {
  private let owner: stead_file_rights?

  /// The user whose files they are.
  var user: uid_t { owner?.user ?? geteuid() }

  /// The rights of who has the directory of a path, or the nearest one above it that exists.
  init(at path: String, disk: any Disk) throws {
    var path = path
    var found = try disk.status(at: path)
    while found == nil, path.directoryPath != path {
      path = path.directoryPath
      found = try disk.status(at: path)
    }
    guard geteuid() == 0, let found, found.user != 0 else {
      owner = nil
      return
    }
    owner = stead_file_rights(user: found.user, group: found.group)
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
      message: "The cache's directory belongs to another user, whose rights can't be taken here; "
        + "choose another directory.",
      path: "")
  }
}
