import Foundation
import SteadFiles

extension Preferences {
  /// The process and machine that preferences belong to: the user, the locations of files, the command line.
  ///
  /// Programs use ``process``. A test creates its own environment, so that it neither sees nor changes
  /// anything of the user's:
  ///
  /// ```swift
  /// let environment = Preferences.Environment(
  ///   appID: "com.example.notes", variables: ["HOME": scratch.path],
  ///   arguments: ["notes", "-theme", "dark"], managedDirectory: scratch)
  /// let preferences = try Preferences(environment: environment)
  /// ```
  ///
  /// All preferences of one environment share registered defaults, arguments and other volatile domains, as
  /// all those of a process do; copies of the value are the same environment.
  public struct Environment: Sendable {
    /// The name of the app's own domain.
    ///
    /// For the process this is the main bundle's identifier, or the executable's name.
    public var appID: String { search.appID }
    let search: SearchEnvironment

    /// The environment of this process.
    public static let process = Environment(
      arguments: ProcessInfo.processInfo.arguments,
      managedDirectory: URL(filePath: "/etc/stead/managed", directoryHint: .isDirectory))

    /// Makes an environment for preferences with files.
    ///
    /// - Parameters:
    ///   - appID: The name of the app's own domain; nil means the process's.
    ///   - variables: The process's environment variables, or a test's substitute; `XDG_CONFIG_HOME`,
    ///     `XDG_CONFIG_DIRS` and `HOME` are read.
    ///   - arguments: A command line, starting with the program's name.
    ///   - managedDirectory: Where an administrator installs property lists that users cannot change; nil for none.
    ///   - host: A name for this machine; nil means one that is derived from its identity by a hash.
    public init(
      appID: String? = nil,
      variables: [String: String] = ProcessInfo.processInfo.environment,
      arguments: [String] = [], managedDirectory: URL? = nil, host: String? = nil
    ) {
      search = SearchEnvironment(
        appID: appID ?? Self.processID,
        directories: DomainDirectories(variables: variables, managed: managedDirectory),
        host: host ?? HostID.current, shared: SharedDomains(arguments: arguments))
    }

    /// An environment without any file: all domains disappear with the last preferences that use it.
    public static func inMemory(appID: String = "memory", arguments: [String] = []) -> Environment {
      Environment(
        search: SearchEnvironment(
          appID: appID, directories: DomainDirectories(config: nil, allUsers: [], managed: nil),
          host: "memory", shared: SharedDomains(arguments: arguments)))
    }

    private init(search: SearchEnvironment) { self.search = search }

    private static var processID: String {
      let process = ProcessInfo.processInfo
      let executable = process.arguments.first.map { URL(filePath: $0).lastPathComponent }
      return Bundle.main.bundleIdentifier ?? executable ?? process.processName
    }
  }
}
