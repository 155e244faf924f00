import Foundation
import SteadFiles

extension PropertyList {
  /// Makes a URL's stored form in `UserDefaults`: a file's path, or an archive.
  ///
  /// Paths in the user's home begin with `~`, so that they stay valid when the home is moved.
  init(url: URL) throws {
    if url.isFileURL {
      self = .string(Self.abbreviated(url.absoluteURL.path(percentEncoded: false)))
      return
    }
    self = .data(
      try NSKeyedArchiver.archivedData(withRootObject: url as NSURL, requiringSecureCoding: true))
  }

  /// A string as the path of a file, data as an archived URL; nil for any other value.
  var url: URL? {
    switch self {
    case .string(let path): URL(fileURLWithPath: Self.expanded(path))
    case .data(let data):
      (try? NSKeyedUnarchiver.unarchivedObject(ofClass: NSURL.self, from: data))?.absoluteURL
    default: nil
    }
  }

  private static func abbreviated(_ path: String) -> String {
    let home = home
    guard home.count > 1, path == home || path.hasPrefix(home + "/") else { return path }
    return "~" + path.dropFirst(home.count)
  }

  private static func expanded(_ path: String) -> String {
    guard path == "~" || path.hasPrefix("~/") else {
      return (path as NSString).expandingTildeInPath
    }
    return withoutEnd(home + path.dropFirst())
  }

  /// Not `NSHomeDirectory()`, which is the working directory for some users if `HOME` is empty.
  private static var home: String { withoutEnd(HomeDirectory.account.path(percentEncoded: false)) }

  /// A path without slashes at its end.
  private static func withoutEnd(_ path: String) -> String {
    let end = path.lastIndex { $0 != "/" }
    return end.map { String(path[...$0]) } ?? "/"
  }
}
