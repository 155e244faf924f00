#if !canImport(Darwin)
  public import Foundation
  import SteadFiles

  extension TransferSource where Value == PreferenceEntry {
    /// The file in which Foundation on Linux stores the `UserDefaults` of a program.
    ///
    /// Otherwise as the source of a file by its URL.
    ///
    /// - Parameters:
    ///   - program: The main bundle's identifier, else the executable's name; or the name of a
    ///     suite.
    ///   - variables: The environment, of which `XDG_CONFIG_HOME` and `HOME` are read.
    ///   - removesItems: Whether keys that were moved are removed from the file.
    /// - Throws: ``TransferError/Code/unsupported`` for a name that isn't one of a file.
    public static func userDefaults(
      program: String, variables: [String: String] = ProcessInfo.processInfo.environment,
      removesItems: Bool = false
    ) throws -> Self {
      Self(
        try UserDefaultsFile(program: program, variables: variables, removesItems: removesItems))
    }
  }

  extension UserDefaultsFile {
    init(
      program: String, variables: [String: String], removesItems: Bool = false
    ) throws {
      // The name becomes part of a path.
      guard !program.isEmpty, !program.contains("/"), !program.contains("\0") else {
        throw TransferError(
          code: .unsupported,
          message: "A program's name must not be empty, and must not contain a slash.")
      }
      let directory = BaseDirectories(environment: variables).config
      self.init(
        directory.appending(path: "\(program).plist", directoryHint: .notDirectory),
        removesItems: removesItems)
    }
  }
#endif
