#if !canImport(Darwin)
  import Foundation

  /// The directories that all apps of a user share, by the XDG Base Directory Specification 0.8 and
  /// by `user-dirs.dirs`.
  package struct BaseDirectories {
    package let home: URL
    package let data: URL
    package let config: URL
    package let cache: URL
    package let state: URL
    package let temporary: URL
    /// Where an administrator puts settings for all users; earlier directories take precedence.
    package let allUsersConfig: [URL]
    private let userDirectories: UserDirectories

    package init(environment: [String: String]) {
      let home = Self.directory(environment["HOME"]) ?? HomeDirectory.account
      func base(_ variable: String, _ fallback: String) -> URL {
        Self.directory(environment[variable]) ?? home.directory(fallback)
      }
      self.home = home
      data = base("XDG_DATA_HOME", ".local/share")
      config = base("XDG_CONFIG_HOME", ".config")
      cache = base("XDG_CACHE_HOME", ".cache")
      state = base("XDG_STATE_HOME", ".local/state")
      allUsersConfig = Self.directories(environment["XDG_CONFIG_DIRS"], default: "/etc/xdg")
      temporary = Self.directory(environment["TMPDIR"]) ?? URL(filePath: "/tmp")
      // A missing or unreadable file leaves the default locations of desktops.
      let text = try? AtomicFile(config.appending(path: "user-dirs.dirs")).read()
      userDirectories = UserDirectories(
        text.map { String(decoding: $0, as: UTF8.self) } ?? "",
        home: home.path(percentEncoded: false))
    }

    /// One of the directories visible to the user, such as `DOCUMENTS`.
    package func user(_ name: String, default fallback: String) -> URL {
      Self.directory(userDirectories[name]) ?? home.directory(fallback)
    }

    /// "All paths set in these environment variables must be absolute"; others count as not set.
    static func directory(_ path: String?) -> URL? {
      guard let path, path.hasPrefix("/"), !path.utf8.contains(0) else { return nil }
      return URL(filePath: path, directoryHint: .isDirectory)
    }

    /// Colon-separated paths; those that are not absolute are skipped, and an empty list counts as not set.
    private static func directories(_ list: String?, default fallback: String) -> [URL] {
      let found = (list ?? "").split(separator: ":").compactMap { directory(String($0)) }
      return found.isEmpty ? [URL(filePath: fallback, directoryHint: .isDirectory)] : found
    }
  }

  extension URL {
    package func directory(_ path: String) -> URL {
      appending(path: path, directoryHint: .isDirectory)
    }
  }
#endif
