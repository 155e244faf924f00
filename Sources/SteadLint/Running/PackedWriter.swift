/// The bytes of values in the order in which they're written, without names of properties and with each string once.
///
/// Reading them back needs the same types. They take a small part of the space of a property list.
final class PackedWriter {
  private(set) var bytes: [UInt8] = []
  private var strings: [String] = []
  private var indexes: [String: Int] = [:]

  /// A value's bytes: the strings, then the value.
  ///
  /// Throws for a value with anything but structures, lists, strings, integers and flags.
  static func bytes(of value: some Encodable) throws -> [UInt8] {
    let body = PackedWriter()
    try value.encode(to: PackedEncoder(writer: body))
    let whole = PackedWriter()
    whole.append(body.strings.count)
    for string in body.strings { whole.append(content: string) }
    return whole.bytes + body.bytes
  }

  func append(_ flag: Bool) {
    bytes.append(flag ? 1 : 0)
  }

  /// Appends a number in as many bytes as it needs, seven bits in each, the lowest first.
  func append(_ number: Int) {
    // The sign goes last, so that numbers close to zero are short.
    var rest = UInt64(bitPattern: Int64(number << 1 ^ number >> (Int.bitWidth - 1)))
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  func append(_ string: String) {
    if let known = indexes[string] { return append(known) }
    indexes[string] = strings.count
    append(strings.count)
    strings.append(string)
  }

  /// Appends a string in full, not its number.
  func append(content string: String) {
    append(list: Array(string.utf8))
  }

  func append(list: some Collection<UInt8>) {
    append(list.count)
    bytes += list
  }

  /// Reserves room for a count that isn't known yet, and returns its place.
  func reserveCount() -> Int {
    bytes += [0, 0, 0, 0]
    return bytes.count - 4
  }

  func setCount(_ count: Int, at place: Int) {
    for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: count >> (8 * index)) }
  }
}
