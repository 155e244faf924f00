import Foundation

/// An entry's tags in the bytes of its row: of each, in order of their bytes, a length of four bytes, the least
/// significant first, and the UTF-8.
struct TagList: Sendable {
  let bytes: Data

  init(bytes: Data) { self.bytes = bytes }

  init(_ tags: Set<String>) {
    var bytes = Data()
    for tag in tags.map({ Array($0.utf8) }).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      withUnsafeBytes(of: UInt32(tag.count).littleEndian) { bytes.append(contentsOf: $0) }
      bytes.append(contentsOf: tag)
    }
    self.bytes = bytes
  }

  /// The UTF-8 of each tag.
  var parts: [Data] {
    var parts: [Data] = []
    var rest = bytes
    while rest.count >= 4 {
      let count = Int(rest.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
      rest = rest.dropFirst(4)
      guard count <= rest.count else { break }
      parts.append(Data(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    return parts
  }

  var tags: Set<String> { Set(parts.map { String(decoding: $0, as: UTF8.self) }) }
}
