import Foundation

/// Strings with NUL in JSON, which has it as an escape. SQLite's JSON functions cut such a string off at NUL.
enum JSONStrings {
  private static let escape = Array(#"\u0000"#.utf8)

  /// A JSON array in which each string with NUL is in an array of its own, where `json_each` leaves it as it is; nil if
  /// there is none.
  ///
  /// Strings within other elements stay as they are.
  static func wrappingNUL(_ json: UnsafeRawBufferPointer) -> [UInt8]? {
    guard contains(escape, json) else { return nil }
    var result: [UInt8] = []
    result.reserveCapacity(json.count + 16)
    var depth = 0
    var index = 0
    while index < json.count {
      let byte = json[index]
      guard byte == UInt8(ascii: "\"") else {
        if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") { depth += 1 }
        if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") { depth -= 1 }
        result.append(byte)
        index += 1
        continue
      }
      let (end, hasNUL) = string(from: index, json)
      let wraps = hasNUL && depth == 1
      if wraps { result.append(UInt8(ascii: "[")) }
      result += json[index..<end]
      if wraps { result.append(UInt8(ascii: "]")) }
      index = end
    }
    return result
  }

  /// The string of JSON that is one, or an array of one; nil for anything else.
  static func unwrapped(_ json: UnsafeRawBufferPointer) -> String? {
    let data = Data(json)
    if json.first == UInt8(ascii: "[") {
      return try? JSONDecoder().decode([String].self, from: data).first
    }
    return try? JSONDecoder().decode(String.self, from: data)
  }

  /// Where the string that begins at a quotation mark ends, and whether it has NUL.
  private static func string(
    from start: Int, _ json: UnsafeRawBufferPointer
  ) -> (end: Int, hasNUL: Bool) {
    var hasNUL = false
    var index = start + 1
    while index < json.count, json[index] != UInt8(ascii: "\"") {
      guard json[index] == UInt8(ascii: "\\") else {
        index += 1
        continue
      }
      let rest = UnsafeRawBufferPointer(rebasing: json[index...])
      hasNUL = hasNUL || rest.starts(with: escape)
      index += 2
    }
    return (min(index + 1, json.count), hasNUL)
  }

  private static func contains(_ part: [UInt8], _ text: UnsafeRawBufferPointer) -> Bool {
    part.withUnsafeBytes { TextSearch.find($0, in: text) }
  }
}
