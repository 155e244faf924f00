import Foundation

/// A row of the table, some 100 bytes.
struct BookRow: Decodable, Sendable {
  let number: Int
  let title: String
  let author: String
  let price: Double
  let isRead: Bool

  /// Writes a table of so many bytes, and returns how many rows it has.
  static func write(_ byteCount: Int, to url: URL) throws -> Int {
    guard FileManager.default.createFile(atPath: url.path, contents: nil) else {
      throw CocoaError(.fileWriteUnknown)
    }
    let file = try FileHandle(forWritingTo: url)
    defer { try? file.close() }
    var text = "number,title,author,price,isRead\n"
    var (written, count) = (0, 0)
    while written < byteCount {
      while text.utf8.count < 1 << 20, written + text.utf8.count < byteCount {
        count += 1
        text += "\(count),\"A book about the lighthouse, volume \(count % 997)\","
        text += "Author number \(count % 10_007),\(count % 100).5,\(count % 2 == 0)\n"
      }
      written += text.utf8.count
      try file.write(contentsOf: Data(text.utf8))
      text = ""
    }
    return count
  }
}
