import BenchmarkHarness
import Foundation

/// Five megabytes under one key, beside the same bytes copied in memory.
enum LargeValues {
  static let size = 5_000_000

  static func measure<S: Store>(_ type: S.Type, _ directory: URL) throws -> [String: Double] {
    guard let store = try S(directory: directory) as? any LargeValueStore else { return [:] }
    let values = [1, 2].map { step in Data((0..<size).map { UInt8(truncatingIfNeeded: $0 * step) })
    }
    let rounds = store is FoundationStore ? 2 : 12
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 64)
    defer { copy.deallocate() }
    var times: [String: [Double]] = [:]
    for round in 0...rounds {
      let value = values[round % 2]
      let copying = timed { keep(value.copyBytes(to: copy)) }
      let setting = try timed { try store.set(value, for: "window.state") }
      var read: Data?
      let getting = timed { read = store.data(for: "window.state") }
      guard read == value else { throw StoreError(peer: .stead, code: -2) }
      // The first round touches memory and files that are there from then on.
      guard round > 0 else { continue }
      times["memcpy", default: []].append(copying)
      times["set", default: []].append(setting)
      times["get", default: []].append(getting)
    }
    return times.mapValues { Sample($0).median }
  }
}
