#if !canImport(Darwin)
  import Foundation
  import SteadFiles

  extension DomainDirectories {
    /// The locations of the XDG Base Directory Specification.
    init(variables: [String: String], managed: URL?) {
      let base = BaseDirectories(environment: variables)
      (home, config) = (HomeDirectory(base.home), base.config)
      let list = variables["XDG_CONFIG_DIRS"] ?? ""
      // "All paths set in these environment variables must be absolute"; an empty list counts as unset.
      allUsers = (list.isEmpty ? "/etc/xdg" : list).split(separator: ":")
        .filter { $0.hasPrefix("/") }
        .map { URL(filePath: String($0), directoryHint: .isDirectory) }
      self.managed = managed
    }
  }
#endif
