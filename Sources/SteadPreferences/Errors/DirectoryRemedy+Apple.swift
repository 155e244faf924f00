#if canImport(Darwin)
  // Not run on this project's machines.
  /// What a person can do about the directory of preferences.
  enum DirectoryRemedy {
    /// About files that cannot be written.
    static let writable = "Make the directory writable."
    /// Where a file system cannot do what preferences need.
    static let local = "Move the directory to a local disk."
  }
#endif
