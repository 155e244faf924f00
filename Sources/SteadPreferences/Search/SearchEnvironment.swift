/// What a search list takes from the process and its machine.
///
/// All lists of one environment share their volatile domains; copies of the value are the same
/// environment.
struct SearchEnvironment: Sendable {
  /// The name of the app's own domain.
  let appID: String

  /// Where the files of domains are.
  let directories: DomainDirectories

  /// A name for the machine, which the files have that are for it alone.
  let host: String
  /// What all search lists of the environment share.
  let shared: SharedDomains
}
