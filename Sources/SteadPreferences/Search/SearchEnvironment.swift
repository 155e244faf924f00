/// The process and machine that a search list uses.
///
/// All lists of one environment share their volatile domains; copies of the value are the same environment.
struct SearchEnvironment: Sendable {
  /// The name of the app's own domain.
  let appID: String

  /// The locations of domains' files.
  let directories: DomainDirectories

  /// A name for the machine, which is part of the names of its own files.
  let host: String
  /// What all search lists of the environment share.
  let shared: SharedDomains
}
