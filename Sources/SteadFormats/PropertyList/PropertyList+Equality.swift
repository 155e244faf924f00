import Foundation

extension PropertyList {
  /// Whether both are of one kind and have the same bytes.
  ///
  /// So two spellings of "é" differ, as do 0.0 and -0.0, and a NaN equals itself: a value that was written
  /// and read always equals itself, and every difference is noticed.
  public static func == (left: PropertyList, right: PropertyList) -> Bool {
    switch (left, right) {
    case (.bool(let left), .bool(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.unsignedInteger(let left), .unsignedInteger(let right)): left == right
    case (.float(let left), .float(let right)): left.bitPattern == right.bitPattern
    case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
    case (.date(let left), .date(let right)): left.bits == right.bits
    case (.data(let left), .data(let right)): left == right
    case (.string(let left), .string(let right)): left.isSameText(as: right)
    case (.array(let left), .array(let right)): left == right
    case (.dictionary(let left), .dictionary(let right)): left == right
    default: false
    }
  }

  /// Hashes the kind and the bytes.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .bool(let bool): hasher.combine(bool)
    case .integer(let number): hasher.combine(number)
    case .unsignedInteger(let number): hasher.combine(number)
    case .float(let number): hasher.combine(number.bitPattern)
    case .double(let number): hasher.combine(number.bitPattern)
    case .date(let date): hasher.combine(date.bits)
    case .data(let data): hasher.combine(data)
    case .string(let text): text.hashBytes(into: &hasher)
    case .array(let elements): hasher.combine(elements)
    case .dictionary(let fields): hasher.combine(fields)
    }
  }
}

extension Date {
  fileprivate var bits: UInt64 { timeIntervalSinceReferenceDate.bitPattern }
}

extension String {
  /// Hashes what ``isSameText(as:)`` compares.
  func hashBytes(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
