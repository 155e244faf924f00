import BenchmarkHarness
import Foundation

/// One key is set a million times: what is left on the disk.
enum Overwriting {
  static let count = 1_000_000

  static func measure<S: Store>(_ type: S.Type, _ directory: URL) throws -> [String: Double] {
    let keys = Keys([String](repeating: Keys.name(1), count: count))
    let store = try S(directory: directory)
    let time = try timed { try store.set(keys, from: 0) }
    return ["time": time / Double(count), "bytes": Double(try settledSize(of: directory))]
  }

  /// The size once nothing is at work any more beside the caller, such as a compaction.
  private static func settledSize(of directory: URL) throws -> Int {
    var (size, looks) = (try size(of: directory), 0)
    while looks < 20 {
      usleep(10_000)
      let now = try self.size(of: directory)
      looks = now == size ? looks + 1 : 0
      size = now
    }
    return size
  }

  /// What the files take, holes left out and preallocated blocks counted.
  private static func size(of directory: URL) throws -> Int {
    let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil)
    var bytes = 0
    while let file = files?.nextObject() as? URL {
      var status = stat()
      guard lstat(file.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
      bytes += Int(status.st_blocks) * 512
    }
    return bytes
  }
}
