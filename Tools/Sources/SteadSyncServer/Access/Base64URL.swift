import Foundation

/// Base64 with the URL-safe alphabet and without padding. Reading is strict: each sequence of bytes has one spelling.
enum Base64URL {
  static func encode(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: spelling(of: Data(bytes)), as: UTF8.self)
  }

  static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let spelling = Array(text.utf8)
    var standard: [UInt8] = []
    standard.reserveCapacity(spelling.count + 3)
    for byte in spelling {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        standard.append(byte)
      case UInt8(ascii: "-"): standard.append(UInt8(ascii: "+"))
      case UInt8(ascii: "_"): standard.append(UInt8(ascii: "/"))
      default: return nil
      }
    }
    while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
    guard let data = Data(base64Encoded: Data(standard)) else { return nil }
    // The last character may hold bits that belong to no byte.
    return self.spelling(of: data) == spelling ? Array(data) : nil
  }

  private static func spelling(of data: Data) -> [UInt8] {
    data.base64EncodedData().compactMap { byte in
      switch byte {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      case UInt8(ascii: "="): nil
      default: byte
      }
    }
  }
}
