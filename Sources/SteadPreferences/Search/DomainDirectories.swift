import Foundation
import SteadFiles

/// The locations of domains' files.
///
/// Each platform has its own locations, which ``init(variables:managed:)`` knows, and a sentence that tells a
/// person what to do about files that cannot be written.
struct DomainDirectories: Sendable {
  /// The user's home, which is never created; nil for an environment without files.
  var home: HomeDirectory?

  /// Contains a directory for each domain; nil keeps everything in memory.
  var config: URL?

  /// Where an administrator leaves values for all users; the first that has a key wins.
  var allUsers: [URL]

  /// Where an administrator forces values, which override all others.
  var managed: URL?
}
