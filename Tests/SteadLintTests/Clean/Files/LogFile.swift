import Foundation

final class LogFile {
  private let handle: FileHandle

  init(url: URL) throws {
    if !FileManager.default.fileExists(atPath: url.path) {
      FileManager.default.createFile(atPath: url.path, contents: nil)
    }
    handle = try FileHandle(forWritingTo: url)
    try handle.seekToEnd()
  }

  func write(_ line: String) throws { try handle.write(contentsOf: Data((line + "\n").utf8)) }
}
