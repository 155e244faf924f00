import Foundation

/// The files of a folder that a run reads.
struct FileList {
  struct Source: Sendable {
    enum Content: Sendable {
      case file(URL)
      case bytes([UInt8])
    }

    /// Relative to the folder.
    let path: String
    let content: Content
  }

  let sources: [Source]
  let settings: ProjectSettings

  init(root: URL, excluding excluded: Set<String>, limit: Int) throws {
    var paths: [String] = []
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: root.path, isDirectory: &isFolder) else {
      throw LintError(.unreadable, "\(root.path) doesn't exist; name a folder or a Swift file.")
    }
    let root = root.resolvingSymlinksInPath()
    let base = isFolder.boolValue ? root : root.deletingLastPathComponent()
    if isFolder.boolValue {
      try Self.collect("", of: root, excluding: excluded, limit: limit, into: &paths)
    } else {
      paths = [root.lastPathComponent]
    }
    paths.sort()
    var settings = ProjectSettings()
    for path in paths where ProjectSettings.isSettings(path) {
      // A file that can't be read shows nothing about the app.
      if let data = try? Data(contentsOf: base.appending(path: path)) {
        settings.add(data, path: path)
      }
    }
    sources = paths.filter { $0.hasSuffix(".swift") }.map {
      .init(path: $0, content: .file(base.appending(path: $0)))
    }
    self.settings = settings
  }

  /// The sources, with some contents replaced, sorted by path.
  func replacing(_ contents: [String: String?]) -> [Source] {
    guard !contents.isEmpty else { return sources }
    let added = contents.compactMap { path, content in
      content.map { Source(path: path, content: .bytes(Array($0.utf8))) }
    }
    return (sources.filter { contents[$0.path] == nil } + added).sorted { $0.path < $1.path }
  }

  /// Collects paths without following links, which may lead in a circle.
  private static func collect(
    _ folder: String, of root: URL, excluding excluded: Set<String>, limit: Int,
    into paths: inout [String]
  ) throws {
    let keys: Set<URLResourceKey> = [.isDirectoryKey, .isSymbolicLinkKey]
    let entries: [URL]
    do {
      entries = try FileManager.default.contentsOfDirectory(
        at: root.appending(path: folder), includingPropertiesForKeys: Array(keys))
    } catch {
      throw LintError(
        .unreadable,
        "The folder \(folder.isEmpty ? root.path : folder) can't be read; check its permissions.",
        cause: error)
    }
    for entry in entries {
      let name = entry.lastPathComponent
      // An entry without these values is gone, or isn't a file or a folder.
      guard !name.hasPrefix("."), let values = try? entry.resourceValues(forKeys: keys),
        values.isSymbolicLink != true
      else { continue }
      let path = folder.isEmpty ? name : folder + "/" + name
      if values.isDirectory == true {
        if !excluded.contains(name) {
          try collect(path, of: root, excluding: excluded, limit: limit, into: &paths)
        }
      } else if name.hasSuffix(".swift") || ProjectSettings.isSettings(name) {
        paths.append(path)
      }
      guard paths.count <= limit else {
        throw LintError(
          .tooManyFiles, "\(root.path) has more than \(limit) files; check its folders one by one.")
      }
    }
  }
}
