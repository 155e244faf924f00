import Foundation

/// A user's home, which exists or does not, but which this package never creates.
///
/// A missing home isn't mounted yet, or belongs to an account that shall have no files, such as `/nonexistent`. The
/// superuser may create it nevertheless. The files in it would be hidden once the home is mounted, and until then
/// every other program would take the mount point for the home.
package struct HomeDirectory: Sendable, Hashable {
  private let path: String

  package init(_ url: URL) { path = Self.normalized(url.path(percentEncoded: false)) }

  /// The home of this process, as its environment is now.
  package static var process: HomeDirectory {
    // As for the variables of the XDG specification, a path that isn't absolute counts as not set.
    let named = getenv("HOME").map { String(cString: $0) } ?? ""
    guard named.hasPrefix("/") else { return HomeDirectory(account) }
    return HomeDirectory(URL(filePath: named, directoryHint: .isDirectory))
  }

  /// The home without `HOME`: the user database's, or `/var/empty`, as Foundation names it.
  ///
  /// For a user whom the database lacks, Foundation takes `HOME` also if it is empty or relative. Files would then be
  /// in the working directory, and missing once the program starts in another one. If it begins with a tilde, Foundation
  /// ends the program by a recursion.
  package static var account: URL {
    #if canImport(Darwin)
      return FileManager.default.homeDirectoryForCurrentUser
    #else
      let found = databaseHome.flatMap { $0.hasPrefix("/") ? $0 : nil }
      return URL(filePath: found ?? "/var/empty", directoryHint: .isDirectory)
    #endif
  }

  #if !canImport(Darwin)
    private static var databaseHome: String? {
      withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { strings in
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        guard let start = strings.baseAddress,
          // The reentrant form: another thread may be asking the user database, too.
          getpwuid_r(geteuid(), &entry, start, strings.count, &found) == 0, found != nil,
          let home = entry.pw_dir
        else { return nil }
        return String(cString: home)
      }
    }
  #endif

  /// Throws if the home is among the missing directories on the way to a path.
  ///
  /// Costs one status if the path exists, and one more for each directory that is missing.
  ///
  /// - Throws: ``FileError``: `.notFound` with the home's path.
  package func checkPresence(for path: String, on disk: any Disk = POSIXDisk()) throws {
    var missing = path
    while try disk.statusFollowingLinks(missing) == nil {
      guard try !isHome(missing, on: disk) else {
        throw FileError(code: .notFound, message: Self.message, path: self.path)
      }
      let parent = missing.directoryPath
      // The root, or a relative path's `.`: nothing is left to look at.
      guard parent != missing else { return }
      missing = parent
    }
  }

  /// Whether a missing directory would be the home, by whatever path it is named.
  private func isHome(_ other: String, on disk: any Disk) throws -> Bool {
    // A cheap test first: most missing directories have other names.
    guard other.fileName == path.fileName else { return false }
    if Self.normalized(other) == path { return true }
    guard let parent = try disk.statusFollowingLinks(other.directoryPath) else { return false }
    return try disk.statusFollowingLinks(path.directoryPath)?.identity == parent.identity
  }

  /// Removes empty components and single dots. ".." stays, since what it leads to depends on links.
  private static func normalized(_ path: String) -> String {
    "/" + path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
  }

  fileprivate static let message =
    "The home directory does not exist, and is never created. Mount or create it, or set HOME to another one."
}

extension FileError {
  /// Whether a home directory is missing.
  package var isMissingHome: Bool { code == .notFound && message == HomeDirectory.message }
}
