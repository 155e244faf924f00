import Foundation

/// What a `project.pbxproj` says of its source files.
struct XcodeProject: Codable, Sendable {
  /// The folder that contains the project, with a slash at its end; empty for the root.
  let folder: String
  /// The names of the Swift files that it lists, in lower case: a Mac's disk doesn't tell `App.swift` from `app.swift`.
  private(set) var files: Set<String> = []
  /// Whether it has whole folders, so that it doesn't list every file.
  private(set) var hasFolders = false

  /// How many bytes are read; a larger project counts as unknown.
  static let sizeLimit = 32 << 20

  /// Reads a list in the form that Xcode writes: `path = Name.swift;` or `path = "Its Name.swift";`.
  ///
  /// Returns nil for a larger one.
  init?(_ data: Data, folder: String) {
    guard data.count <= Self.sizeLimit else { return nil }
    self.folder = folder
    hasFolders = data.range(of: Data("PBXFileSystemSynchronizedRootGroup".utf8)) != nil
    let (key, ending) = (Data("path = ".utf8), Data(".swift".utf8))
    var rest = data[...]
    while let start = rest.range(of: key)?.upperBound {
      rest = rest[start...]
      guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else { return }
      let value = rest[..<end]
      if value.range(of: ending) != nil {
        let path = String(decoding: value, as: UTF8.self).filter { $0 != "\"" }
        if let name = path.split(separator: "/").last, name.hasSuffix(".swift") {
          files.insert(name.lowercased())
        }
      }
      rest = rest[end...]
    }
  }
}
