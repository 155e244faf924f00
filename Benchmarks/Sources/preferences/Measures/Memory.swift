import BenchmarkHarness
import Foundation

/// What a process has more in memory once a store is open and has been read.
enum Memory {
  static func measure<S: Store>(
    _ type: S.Type, _ keyCount: Int, _ directory: URL
  ) throws -> [String: Double] {
    let keys = Keys(all: min(keyCount, 10))
    let before = (all: try status("VmRSS"), own: try status("RssAnon"))
    let store = try S(directory: directory)
    keep(try store.sum(keys))
    let after = (all: try status("VmRSS"), own: try status("RssAnon"))
    keep(store)
    return [
      "resident": Double(after.all - before.all) / Double(keyCount),
      "own": Double(after.own - before.own) / Double(keyCount),
    ]
  }

  private static func status(_ key: String) throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    for line in text.split(separator: "\n") where line.hasPrefix("\(key):") {
      return (Int(line.filter(\.isNumber)) ?? 0) * 1024
    }
    return 0
  }
}
