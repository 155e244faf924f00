import Foundation

/// Swift files with so many lines, taken in the order of their paths.
struct LintedSources {
  static let package = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private(set) var files: [URL] = []
  private(set) var lineCount = 0

  init(of folder: URL, lineCount limit: Int) throws {
    let manager = FileManager.default
    let paths = try manager.subpathsOfDirectory(atPath: folder.path).filter { path in
      path.hasSuffix(".swift") && !path.split(separator: "/").contains { $0.hasPrefix(".") }
    }
    for path in paths.sorted() where lineCount < limit {
      let file = folder.appending(path: path)
      files.append(file)
      lineCount += try Data(contentsOf: file).count { $0 == UInt8(ascii: "\n") }
    }
  }

  /// Copies the files into a folder, so that a linter finds these alone.
  func copy(into folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (number, file) in files.enumerated() {
      try FileManager.default.copyItem(
        at: file, to: folder.appending(path: "\(number)-\(file.lastPathComponent)"))
    }
  }
}
