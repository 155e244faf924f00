import BenchmarkHarness
import Foundation

/// From nothing to the first value, in a process that has just begun.
enum Opening {
  static func measure<S: Store>(
    _ type: S.Type, _ keyCount: Int, _ directory: URL
  ) throws -> [String: Double] {
    let keys = Keys([Keys.name(keyCount / 2)])
    let time = try timed {
      let store = try S(directory: directory)
      return (store, try store.sum(keys))
    }
    return ["time": time]
  }
}
