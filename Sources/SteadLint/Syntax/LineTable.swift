import SwiftSyntax

/// Where the lines of a file begin, in bytes.
struct LineTable {
  private let bytes: [UInt8]
  private let starts: [Int]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var starts = [0]
    for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
      starts.append(index + 1)
    }
    self.starts = starts
  }

  /// The longest line that a finding quotes, in bytes. A longer line is probably generated, and is cut.
  private static let quotedLength = 400

  func place(from offset: Int, length: Int, path: String, isInPreview: Bool) -> Place {
    let offset = min(max(0, offset), bytes.count)
    let index = lineIndex(at: offset)
    let end = endOfLine(index)
    return Place(
      path: path, line: index + 1, column: offset - starts[index] + 1,
      width: max(1, min(length, end - offset)),
      sourceLine: String(
        decoding: bytes[starts[index]..<min(end, starts[index] + Self.quotedLength)], as: UTF8.self),
      isInPreview: isInPreview, offset: offset, length: length)
  }

  private func lineIndex(at offset: Int) -> Int {
    var (low, high) = (0, starts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= offset { low = middle } else { high = middle }
    }
    return low
  }

  private func endOfLine(_ index: Int) -> Int {
    var end = index + 1 < starts.count ? starts[index + 1] - 1 : bytes.count
    if end > starts[index], bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    return end
  }
}
