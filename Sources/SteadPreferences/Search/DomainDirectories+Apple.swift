#if canImport(Darwin)
  import Foundation

  // Not run on this project's machines.
  extension DomainDirectories {
    /// What a person can do about files that cannot be written.
    static let remedy = "Make the directory writable."
    /// What a person can do where a file system cannot do what preferences need.
    static let localRemedy = "Move the directory to a local disk."

    /// Places beside those of the system's own preferences, which belong to its daemon.
    init(variables: [String: String], managed: URL?) {
      config = .applicationSupportDirectory
        .appending(path: "Preferences", directoryHint: .isDirectory)
      allUsers = [
        URL(filePath: "/Library/Application Support/Preferences", directoryHint: .isDirectory)
      ]
      self.managed = managed
    }
  }
#endif
