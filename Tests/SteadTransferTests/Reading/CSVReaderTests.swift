import Foundation
import Testing

@testable import SteadTransfer

/// A table comes out the same, whatever pieces it is read in.
struct CSVReaderTests {
  @Test(arguments: [
    "a,b\n1,2\n3,4\n", "a,b\r\n1,\"2\r\n\"\r\n\r\n3,\"\"\"\"", "a,b\r1,2\r3,\"4\r5\"\r",
    "\u{FEFF}a\n\n\u{e9}\n\"\u{1F600},\"\n", "a,b\n\"1\"\"\",\"\"\n", "a\r\nb\rc\r\n", "a,b", "a\r",
  ])
  func readsPieceByPiece(_ text: String) throws {
    let bytes = Array(text.utf8)
    let whole = try rows(bytes, size: .max)
    for size in 1...max(1, bytes.count) {
      let pieces = try rows(bytes, size: size)
      #expect(pieces == whole, "in pieces of \(size)")
    }
  }

  private struct Table: Equatable {
    var columns: [String]
    var header: Data
    var fields: [[String]] = []
    var lines: [Int] = []
    var bytes = Data()
  }

  private func rows(_ bytes: [UInt8], size: Int) throws -> Table {
    var rest = bytes[...]
    var reader = try CSVReader(separator: UInt8(ascii: ",")) { limit in
      let piece = rest.prefix(min(size, limit))
      rest = rest.dropFirst(piece.count)
      return Array(piece)
    }
    var table = Table(columns: reader.columns, header: reader.header)
    while let row = try reader.row() {
      table.fields.append(row.fields)
      table.lines.append(row.line)
      table.bytes += row.bytes
    }
    return table
  }
}
