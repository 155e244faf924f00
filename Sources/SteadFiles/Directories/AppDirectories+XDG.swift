#if !canImport(Darwin)
  import Foundation

  extension AppDirectories {
    init(checkedID id: String, environment: [String: String]) {
      self.id = id
      let base = BaseDirectories(environment: environment)
      home = HomeDirectory(base.home)
      documents = base.user("DOCUMENTS", default: "Documents")
      data = base.data.directory(id)
      config = base.config.directory(id)
      cache = base.cache.directory(id)
      state = base.state.directory(id)
      logs = base.state.directory(id).directory("logs")
      // Names of groups begin with "group." by Apple's rules, so they cannot clash with an app's.
      groups = base.data
      temporary = base.temporary.directory("\(id)-\(geteuid())")
      (runtime, runtimeWarning) = Self.runtime(
        id: id, named: environment["XDG_RUNTIME_DIR"], temporaryBase: base.temporary)
    }

    /// "MUST be owned by the user, and he MUST be the only one having read and write access to it."
    private static func runtime(
      id: String, named path: String?, temporaryBase: URL
    ) -> (URL, warning: String?) {
      let problem: String
      if let named = BaseDirectories.directory(path) {
        do {
          let found = try PrivateDirectory.problem(with: named.checkedPath, on: POSIXDisk())
          guard let found else { return (named.directory(id), nil) }
          problem = found
        } catch {
          problem = "\(error)"
        }
      } else {
        problem = path == nil ? "It isn't set." : "It isn't an absolute path."
      }
      // A single component, since the owner of a directory in between could exchange its contents.
      let replacement = temporaryBase.directory("\(id)-runtime-\(geteuid())")
      let place = replacement.path(percentEncoded: false)
      return (replacement, "XDG_RUNTIME_DIR cannot be used. \(problem) \(place) is used instead.")
    }
  }
#endif
