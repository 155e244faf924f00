#if !canImport(Darwin)
  extension DirectoryRemedy {
    /// The variable that moves the directory of preferences.
    static let variable: String? = "XDG_CONFIG_HOME"
  }
#endif
