#if canImport(Darwin)
  // Not run on this project's machines.
  /// What a person can do about the directory of preferences.
  enum DirectoryRemedy {
    /// For files that cannot be written.
    static let writable = "Make the directory writable."
    /// For a missing home.
    static let otherHome = "A directory can also be passed to the initializer."
    /// For a file system that lacks what preferences need.
    static let local = "Move the directory to a local disk."
  }
#endif
