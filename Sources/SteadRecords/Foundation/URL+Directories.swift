#if !canImport(Darwin)
  public import Foundation
  import SteadFiles

  /// The directories that Foundation names on Apple's systems and not here.
  ///
  /// They are those of the user, shared by all apps, since there are no sandboxes: put a directory of
  /// the app's own below them, or use `AppDirectories`. Each is worked out anew from the environment
  /// (`XDG_DATA_HOME` and its siblings) and from `user-dirs.dirs`, which costs the reading of a small
  /// file; nothing is made.
  extension URL {
    /// What apps cannot make again: `$XDG_DATA_HOME`, or `~/.local/share`.
    public static var applicationSupportDirectory: URL { base.data }
    /// What can be made or fetched again: `$XDG_CACHE_HOME`, or `~/.cache`.
    public static var cachesDirectory: URL { base.cache }
    /// The place of ``applicationSupportDirectory``, since this system has no library.
    public static var libraryDirectory: URL { base.data }
    /// The user's documents.
    public static var documentsDirectory: URL { base.user("DOCUMENTS", default: "Documents") }
    /// What the user has downloaded.
    public static var downloadsDirectory: URL { base.user("DOWNLOAD", default: "Downloads") }
    /// The user's desktop.
    public static var desktopDirectory: URL { base.user("DESKTOP", default: "Desktop") }
    /// The user's films.
    public static var moviesDirectory: URL { base.user("VIDEOS", default: "Videos") }
    /// The user's music.
    public static var musicDirectory: URL { base.user("MUSIC", default: "Music") }
    /// The user's pictures.
    public static var picturesDirectory: URL { base.user("PICTURES", default: "Pictures") }
    /// What the user shares with others.
    public static var sharedPublicDirectory: URL { base.user("PUBLICSHARE", default: "Public") }
    /// What the user has thrown away, by the FreeDesktop.org Trash specification.
    public static var trashDirectory: URL { base.data.directory("Trash/files") }

    private static var base: BaseDirectories {
      BaseDirectories(environment: ProcessInfo.processInfo.environment)
    }
  }
#endif
