#if canImport(Darwin)
  // Not run on this project's machines.
  extension DirectoryRemedy {
    /// No variable moves the directory of preferences.
    static let variable: String? = nil
  }
#endif
