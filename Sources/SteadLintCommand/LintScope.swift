import ArgumentParser
import Foundation
import SteadLint

/// What is read, and which part of it is reported.
///
/// One folder is read on its own. Files, and several paths, are read with the project around them, since types and keys
/// in other files decide what is a mistake.
struct LintScope {
  /// The folder that paths are relative to.
  let directory: URL
  /// The folder that is read.
  let root: URL
  /// A prefix that makes the paths of findings relative to the working directory.
  private let prefix: String
  /// The paths in the folder that are reported; all paths if it's empty.
  private let chosen: [String]

  init(paths: [String], directory: URL) throws(ValidationError) {
    self.directory = directory
    let urls = (paths.isEmpty ? ["."] : paths).map {
      URL(filePath: $0, relativeTo: directory).standardizedFileURL
    }
    for (url, path) in zip(urls, paths) where !FileManager.default.fileExists(atPath: url.path) {
      throw ValidationError("\(path) doesn't exist; name a folder or a Swift file.")
    }
    if urls.count == 1, Self.isFolder(urls[0]) {
      root = urls[0]
      chosen = []
    } else {
      root = Self.project(around: urls)
      let base = root.pathComponents
      chosen = urls.map { $0.pathComponents.dropFirst(base.count).joined(separator: "/") }
    }
    let here = directory.standardizedFileURL.pathComponents
    let there = root.pathComponents
    if there.starts(with: here) {
      prefix = there.dropFirst(here.count).map { $0 + "/" }.joined()
    } else {
      prefix = root.path + "/"
    }
  }

  func isReported(_ finding: Finding) -> Bool {
    chosen.isEmpty
      || chosen.contains { path in
        path.isEmpty || finding.place.path == path || finding.place.path.hasPrefix(path + "/")
      }
  }

  /// A report with paths relative to the working directory.
  func placed(_ report: LintReport) -> LintReport {
    prefix.isEmpty ? report : report.prefixed(with: prefix)
  }

  private static func isFolder(_ url: URL) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
      && isFolder.boolValue
  }

  /// The nearest folder around all paths that looks like a project; the common folder of the paths if none does.
  private static func project(around urls: [URL]) -> URL {
    let folders = urls.map { isFolder($0) ? $0 : $0.deletingLastPathComponent() }.map(
      \.pathComponents)
    var common = folders[0]
    for folder in folders.dropFirst() {
      common = Array(zip(common, folder).prefix { $0 == $1 }.map(\.0))
    }
    var candidate = common
    while candidate.count > 1 {
      if isProject(url(candidate)) { return url(candidate) }
      candidate.removeLast()
    }
    return url(common)
  }

  private static func url(_ components: [String]) -> URL {
    URL(filePath: "/" + components.dropFirst().joined(separator: "/")).standardizedFileURL
  }

  private static func isProject(_ folder: URL) -> Bool {
    // A folder that can't be listed isn't one.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.contains {
      $0 == "Package.swift" || $0 == ".git" || $0.hasSuffix(".xcodeproj")
        || $0.hasSuffix(".xcworkspace")
    }
  }
}
