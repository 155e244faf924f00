import Foundation
import SteadPreferences

extension PropertyList {
  /// Kind and content, to the bit, in one line.
  var line: String {
    switch self {
    case .bool(let value): "bool \(value)"
    case .integer(let value): "integer \(value)"
    case .unsignedInteger(let value): "unsigned \(value)"
    case .float(let value): "float \(String(value.bitPattern, radix: 16))"
    case .double(let value): "double \(String(value.bitPattern, radix: 16))"
    case .date(let value):
      "date \(String(value.timeIntervalSinceReferenceDate.bitPattern, radix: 16))"
    case .data(let value): "data \(value.count) \(value.summary)"
    case .string(let value): "string \(value.escaped)"
    case .array(let values): "[" + values.map(\.line).joined(separator: ", ") + "]"
    case .dictionary(let fields):
      "{" + fields.map { "\($0.key.escaped): \($0.value.line)" }.joined(separator: ", ") + "}"
    }
  }
}

extension Data {
  /// The number of which these bytes are nothing but repetitions, or what tells others apart.
  fileprivate var summary: String {
    withUnsafeBytes { bytes in
      let words = stride(from: 0, to: bytes.count - 7, by: 8).map {
        bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self)
      }
      if bytes.count % 8 == 0, let first = words.first, words.allSatisfy({ $0 == first }) {
        return "of \(first)"
      }
      return "hash \(bytes.reduce(UInt64(bytes.count)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })"
    }
  }

  /// So many bytes that are nothing but repetitions of a number.
  init(repeating number: UInt64, count: Int) {
    self.init(capacity: count)
    while self.count < count {
      Swift.withUnsafeBytes(of: number) { self.append(contentsOf: $0) }
    }
  }
}
