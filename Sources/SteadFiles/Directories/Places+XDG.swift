#if !canImport(Darwin)
  import Foundation

  /// The places of the XDG Base Directory Specification, version 0.8.
  extension Places {
    init(id: String, environment: [String: String]) {
      let home = Self.home(environment)
      func base(_ variable: String, _ fallback: String) -> URL {
        Self.directory(environment[variable]) ?? home.directory(fallback)
      }
      let configBase = base("XDG_CONFIG_HOME", ".config")
      let stateBase = base("XDG_STATE_HOME", ".local/state")
      let temporaryBase = Self.directory(environment["TMPDIR"]) ?? URL(filePath: "/tmp")

      data = base("XDG_DATA_HOME", ".local/share").directory(id)
      config = configBase.directory(id)
      cache = base("XDG_CACHE_HOME", ".cache").directory(id)
      state = stateBase.directory(id)
      logs = stateBase.directory(id).directory("logs")
      // Names of groups begin with "group." by Apple's rules, so they are no app's.
      groups = base("XDG_DATA_HOME", ".local/share")
      documents = Self.documents(configBase: configBase, home: home)
      temporary = temporaryBase.directory("\(id)-\(geteuid())")
      (runtime, runtimeWarning) = Self.runtime(
        id: id, named: environment["XDG_RUNTIME_DIR"], temporaryBase: temporaryBase)
    }

    /// "All paths set in these environment variables must be absolute"; others count as not set.
    private static func directory(_ path: String?) -> URL? {
      guard let path, path.hasPrefix("/"), !path.utf8.contains(0) else { return nil }
      return URL(filePath: path, directoryHint: .isDirectory)
    }

    private static func home(_ environment: [String: String]) -> URL {
      directory(environment["HOME"]) ?? FileManager.default.homeDirectoryForCurrentUser
    }

    private static func documents(configBase: URL, home: URL) -> URL {
      let file = AtomicFile(configBase.appending(path: "user-dirs.dirs"))
      // Without the file, or one that can be read, the place is the one that desktops start with.
      let text = (try? file.read()).map { String(decoding: $0, as: UTF8.self) } ?? ""
      let homePath = home.path(percentEncoded: false)
      return directory(UserDirectories(text, home: homePath)["DOCUMENTS"])
        ?? home.directory("Documents")
    }

    /// "MUST be owned by the user, and he MUST be the only one having read and write access to it."
    private static func runtime(
      id: String, named path: String?, temporaryBase: URL
    ) -> (URL, warning: String?) {
      let problem: String?
      if let named = directory(path) {
        let checked = Result { try named.checkedPath }
          .flatMap { path in Result { try PrivateDirectory.problem(with: path, on: POSIXDisk()) } }
        switch checked {
        case .success(nil): return (named.directory(id), nil)
        case .success(let found): problem = found
        case .failure(let error): problem = "\(error)"
        }
      } else {
        problem = path == nil ? "It is not set." : "It is not an absolute path."
      }
      // One component, since whoever owned a directory in between could exchange what is in it.
      let replacement = temporaryBase.directory("\(id)-runtime-\(geteuid())")
      let place = replacement.path(percentEncoded: false)
      return (replacement, "XDG_RUNTIME_DIR cannot be used, \(place) is: \(problem ?? "")")
    }
  }

  extension URL {
    fileprivate func directory(_ path: String) -> URL {
      appending(path: path, directoryHint: .isDirectory)
    }
  }
#endif
