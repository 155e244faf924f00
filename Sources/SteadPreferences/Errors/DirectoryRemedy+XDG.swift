#if !canImport(Darwin)
  /// What a person can do about the directory of preferences.
  enum DirectoryRemedy {
    /// For files that cannot be written.
    static let writable = "Make the directory writable, or set XDG_CONFIG_HOME to one that is."
    /// For a missing home.
    static let otherHome = "XDG_CONFIG_HOME can name another directory for preferences."
    /// For a file system that lacks what preferences need.
    static let local = "Set XDG_CONFIG_HOME to a directory on a local disk."
  }
#endif
