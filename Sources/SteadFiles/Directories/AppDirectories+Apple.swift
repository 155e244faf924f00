#if canImport(Darwin)
  import Foundation

  /// The locations that Apple's systems define; a sandboxed app gets those of its container.
  extension AppDirectories {
    init(checkedID id: String, environment: [String: String]) {
      self.id = id
      home = HomeDirectory(.homeDirectory)
      let support = URL.applicationSupportDirectory
      let caches = URL.cachesDirectory
      let temporaryBase = URL.temporaryDirectory

      documents = .documentsDirectory
      data = support.appending(path: id, directoryHint: .isDirectory)
      config = data.appending(path: "Configuration", directoryHint: .isDirectory)
      cache = caches.appending(path: id, directoryHint: .isDirectory)
      state = data.appending(path: "State", directoryHint: .isDirectory)
      logs = URL.libraryDirectory
        .appending(path: "Logs", directoryHint: .isDirectory)
        .appending(path: id, directoryHint: .isDirectory)
      // Apple has no such directory; this one belongs to each user and is cleared at a restart.
      temporary = temporaryBase.appending(path: id, directoryHint: .isDirectory)
      runtime = temporary.appending(path: "Runtime", directoryHint: .isDirectory)
      runtimeWarning = nil
      groups = URL.libraryDirectory
        .appending(path: "Group Containers", directoryHint: .isDirectory)
    }
  }
#endif
