#if canImport(Darwin)
  // Not run on this project's machines.
  /// What a person can do about the directory of preferences.
  enum DirectoryRemedy {
    /// For files that cannot be written.
    static let writable = "Make the directory writable."
    /// For a file system that lacks what preferences need.
    static let local = "Move the directory to a local disk."
  }
#endif
