#if !canImport(Darwin)
  public import Foundation
  import SteadFiles

  /// The directories that Foundation names on Apple's systems and not here.
  ///
  /// They belong to the user and are shared by all apps, since apps have no sandboxes: put a directory of the app's own
  /// below them, or use `AppDirectories`. Each is computed again from the environment (`XDG_DATA_HOME` and its
  /// siblings) and from `user-dirs.dirs`, which costs a read of a small file; nothing is created.
  extension URL {
    /// Data that apps cannot create again: `$XDG_DATA_HOME`, or `~/.local/share`.
    public static var applicationSupportDirectory: URL { base.data }
    /// Data that can be created or fetched again: `$XDG_CACHE_HOME`, or `~/.cache`.
    public static var cachesDirectory: URL { base.cache }
    /// The same as ``applicationSupportDirectory``, since this system has no library directory.
    public static var libraryDirectory: URL { base.data }
    /// The user's documents.
    public static var documentsDirectory: URL { base.user("DOCUMENTS", default: "Documents") }
    /// The user's downloads.
    public static var downloadsDirectory: URL { base.user("DOWNLOAD", default: "Downloads") }
    /// The user's desktop.
    public static var desktopDirectory: URL { base.user("DESKTOP", default: "Desktop") }
    /// The user's films.
    public static var moviesDirectory: URL { base.user("VIDEOS", default: "Videos") }
    /// The user's music.
    public static var musicDirectory: URL { base.user("MUSIC", default: "Music") }
    /// The user's pictures.
    public static var picturesDirectory: URL { base.user("PICTURES", default: "Pictures") }
    /// Files that the user shares with others.
    public static var sharedPublicDirectory: URL { base.user("PUBLICSHARE", default: "Public") }
    /// The user's trash, by the FreeDesktop.org Trash specification.
    public static var trashDirectory: URL { base.data.directory("Trash/files") }

    private static var base: BaseDirectories {
      BaseDirectories(environment: ProcessInfo.processInfo.environment)
    }
  }
#endif
