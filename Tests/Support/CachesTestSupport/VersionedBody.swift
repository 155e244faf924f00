package import Foundation

/// A response's body that tells its path and its version in each block, so that no other body, and no mixture of two,
/// is taken for it.
package struct VersionedBody: Sendable {
  private static let blockSize = 4096

  package let path: String
  package let version: Int

  package init(path: String, version: Int) {
    self.path = path
    self.version = version
  }

  /// The body that bytes are; nil if they aren't one from the first byte to the last.
  package init?(_ bytes: Data) {
    let words = bytes.prefix(Self.blockSize).prefix { $0 != UInt8(ascii: "\n") }
      .split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
    guard words.count == 3, let version = Int(words[1]) else { return nil }
    self.init(path: words[0], version: version)
    guard bytes == data else { return nil }
  }

  /// `/small/7` has some kilobytes, `/large/7` some hundred.
  package var size: Int {
    let number = path.split(separator: "/").last.flatMap { Int($0) } ?? 0
    return path.hasPrefix("/large") ? 100_000 + number * 50_000 : 500 + number * 1000
  }

  package var data: Data {
    var data = Data(capacity: size + Self.blockSize)
    while data.count < size {
      let block = Data("\(path) \(version) \(data.count)\n".utf8)
      data.append(block)
      data.append(
        Data(repeating: UInt8(truncatingIfNeeded: version), count: Self.blockSize - block.count))
    }
    return data.prefix(size)
  }

  package var entityTag: String { "\"\(path) \(version)\"" }
}
