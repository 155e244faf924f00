import Foundation

/// Where the files of domains are.
///
/// Each platform has places of its own, which ``init(variables:managed:)`` knows, and a sentence that says what
/// a person can do about files that cannot be written.
struct DomainDirectories: Sendable {
  /// Where each domain has a directory of its name; nil keeps all in memory.
  var config: URL?

  /// Where an administrator leaves values for all users; the first of them that has a key counts.
  var allUsers: [URL]

  /// Where an administrator fixes values, which count before all others.
  var managed: URL?
}
