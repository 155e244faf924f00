#if canImport(Darwin)
  import Foundation
  import SteadFiles

  // Not run on this project's machines.
  extension DomainDirectories {
    /// Locations next to those of the system's own preferences, which belong to its daemon.
    init(variables: [String: String], managed: URL?) {
      home = HomeDirectory(.homeDirectory)
      config = .applicationSupportDirectory
        .appending(path: "Preferences", directoryHint: .isDirectory)
      allUsers = [
        URL(filePath: "/Library/Application Support/Preferences", directoryHint: .isDirectory)
      ]
      self.managed = managed
    }
  }
#endif
