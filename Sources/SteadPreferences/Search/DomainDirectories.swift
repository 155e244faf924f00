import Foundation

/// Where the files of domains are.
struct DomainDirectories: Sendable {
  /// Where each domain has a directory of its name; nil keeps all in memory.
  var config: URL?
  var allUsers: [URL]
  var managed: URL?
}
