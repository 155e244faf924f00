#if !canImport(Darwin)
  import Foundation
  import SteadFiles

  extension DomainDirectories {
    /// The locations of the XDG Base Directory Specification.
    init(variables: [String: String], managed: URL?) {
      let base = BaseDirectories(environment: variables)
      (home, config) = (HomeDirectory(base.home), base.config)
      allUsers = base.allUsersConfig
      self.managed = managed
    }
  }
#endif
