import Foundation

extension PropertyList {
  /// A URL as `UserDefaults` keeps it: a file's as its path, others as an archive.
  ///
  /// Paths in the user's home begin with `~`, so that they are right when the home has moved.
  init(url: URL) throws {
    if url.isFileURL {
      self = .string(Self.abbreviated(url.absoluteURL.path(percentEncoded: false)))
      return
    }
    self = .data(
      try NSKeyedArchiver.archivedData(withRootObject: url as NSURL, requiringSecureCoding: true))
  }

  /// A text as the path of a file, data as an archived URL; nil for all else.
  var url: URL? {
    switch self {
    case .string(let path): URL(fileURLWithPath: (path as NSString).expandingTildeInPath)
    case .data(let data):
      (try? NSKeyedUnarchiver.unarchivedObject(ofClass: NSURL.self, from: data))?.absoluteURL
    default: nil
    }
  }

  private static func abbreviated(_ path: String) -> String {
    let home = NSHomeDirectory()
    guard home.count > 1, path == home || path.hasPrefix(home + "/") else { return path }
    return "~" + path.dropFirst(home.count)
  }
}
