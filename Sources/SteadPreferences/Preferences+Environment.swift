import Foundation
import SteadFiles

extension Preferences {
  /// What preferences take from the process and its machine: whose they are, where files are, what the
  /// command line says.
  ///
  /// Programs leave this to ``process``. A test makes one of its own, so that it neither sees nor
  /// changes anything of the user's:
  ///
  /// ```swift
  /// let environment = Preferences.Environment(
  ///   appID: "com.example.notes", variables: ["HOME": scratch.path],
  ///   arguments: ["notes", "-theme", "dark"], managedDirectory: scratch)
  /// let preferences = try Preferences(environment: environment)
  /// ```
  ///
  /// All preferences of one environment share registered defaults, arguments and other volatile
  /// domains, as all of a process do; copies of the value are the same environment.
  public struct Environment: Sendable {
    /// The name of the app's own domain.
    ///
    /// For the process this is the main bundle's identifier, else the executable's name.
    public var appID: String { search.appID }
    let search: SearchEnvironment

    /// The environment of this process.
    public static let process = Environment(
      arguments: ProcessInfo.processInfo.arguments,
      managedDirectory: URL(filePath: "/etc/stead/managed", directoryHint: .isDirectory))

    /// An environment for files.
    ///
    /// - Parameters:
    ///   - appID: The name of the app's own domain; nil takes the process's.
    ///   - variables: The process's environment variables, or what a test wants them to be:
    ///     `XDG_CONFIG_HOME`, `XDG_CONFIG_DIRS` and `HOME` are read.
    ///   - arguments: A command line, with the program's name first.
    ///   - managedDirectory: Where an administrator installs property lists that users cannot change;
    ///     nil when nowhere.
    ///   - host: A name for this machine; nil takes one that is made from its identity by a hash.
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

    /// An environment without any file: all domains are gone with the last preferences of it.
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
