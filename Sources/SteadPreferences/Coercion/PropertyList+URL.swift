import Foundation

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
