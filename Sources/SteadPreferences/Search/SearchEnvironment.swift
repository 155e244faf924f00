/// What a search list takes from the process and its machine.
///
/// All lists of one environment share their volatile domains; copies of the value are the same
/// environment.
struct SearchEnvironment: Sendable {
  /// The name of the app's own domain.
  let appID: String
  let directories: DomainDirectories
  /// A name for the machine.
  let host: String
  let shared: SharedDomains
}
