import BenchmarkHarness
import Foundation

/// What `flush()` takes after one `set`, beside the system call that it cannot do without.
enum Flushing {
  private static let rounds = 100
  private static let recordSize = 136

  static func measure(_ directory: URL) throws -> [String: Double] {
    let store = try SteadStore(directory: directory)
    let file = open(directory.appendingPathComponent("plain").path, O_RDWR | O_CREAT, 0o600)
    guard file >= 0 else { throw StoreError(peer: .stead, code: errno) }
    defer { close(file) }
    let size = rounds * recordSize
    let zeros = [UInt8](repeating: 0, count: size)
    guard pwrite(file, zeros, size, 0) == size, fsync(file) == 0 else {
      throw StoreError(peer: .stead, code: errno)
    }
    var times: [String: [Double]] = [:]
    for round in 0..<rounds {
      let plain = try timed {
        guard pwrite(file, zeros, recordSize, off_t(round * recordSize)) == recordSize,
          fdatasync(file) == 0
        else { throw StoreError(peer: .stead, code: errno) }
      }
      times["fdatasync", default: []].append(plain)
      let own = try timed {
        try store.set(Keys([Keys.name(1)]), from: round)
        try store.flush()
      }
      times["flush", default: []].append(own)
    }
    return times.mapValues { Sample($0).median }
  }
}
