import Foundation

// The heads of a URL's variants on disk, as the metadata of one entry. Numbers are little-endian,
// strings are UTF-8 behind their length:
//
//   size  meaning
//   1     version, 1
//   4     number of responses, the oldest first; for each:
//     string  name of the body
//     4       status
//     1       whether the client decoded the body
//     1       whether a reason phrase follows; string
//     4       number of fields; for each: string name, string value
//     4       number of fields of the Vary key; for each: string name, 1 whether the request had it, string
//     1       whether a language follows; string
//     8, 8    when the request was sent and the response came: the bits of the seconds since 1970 as a Double
//     1       whether it is a part; 8, 8, 8 its first position, the one behind its last, the length of the whole
//     8       bytes of the body
//
// Bytes of another version, or that end too early or too late, decode as no responses.
extension CachedVariants {
  private static let version: UInt8 = 1

  /// Encodes responses. Equal responses have equal bytes: variants in memory and on disk are
  /// compared by them.
  static func encode(_ responses: [StoredResponse]) -> Data {
    var writer = VariantsWriter()
    writer.write(version)
    writer.write(UInt32(responses.count))
    for response in responses { write(response, to: &writer) }
    return writer.bytes
  }

  /// Decodes responses; empty if the bytes have another form.
  ///
  /// - Parameter isShared: Whether they are those of a shared cache.
  static func decode(_ bytes: Data, isShared: Bool = false) -> [StoredResponse] {
    var reader = VariantsReader(bytes)
    guard reader.byte() == version, let count = reader.count() else { return [] }
    var responses: [StoredResponse] = []
    for _ in 0..<count {
      guard let response = readResponse(from: &reader, isShared) else { return [] }
      responses.append(response)
    }
    return reader.isAtEnd ? responses : []
  }

  private static func write(_ stored: StoredResponse, to writer: inout VariantsWriter) {
    writer.write(stored.id)
    writer.write(UInt32(clamping: stored.response.status))
    writer.write(UInt8(stored.response.isDecoded ? 1 : 0))
    writer.write(stored.response.reason)
    writer.write(UInt32(stored.response.fields.count))
    for field in stored.response.fields {
      writer.write(field.name)
      writer.write(field.value)
    }
    writer.write(UInt32(stored.varyKey.values.count))
    // Sorted, since a dictionary's order differs in each process.
    for (name, value) in stored.varyKey.values.sorted(by: { $0.key < $1.key }) {
      writer.write(name)
      writer.write(value)
    }
    writer.write(stored.varyKey.language)
    writer.write(stored.requestedAt.timeIntervalSince1970.bitPattern)
    writer.write(stored.receivedAt.timeIntervalSince1970.bitPattern)
    writer.write(UInt8(stored.range == nil ? 0 : 1))
    if let range = stored.range {
      for number in [range.positions.lowerBound, range.positions.upperBound, range.length] {
        writer.write(UInt64(number))
      }
    }
    writer.write(UInt64(stored.bodySize))
  }

  private static func readResponse(from reader: inout VariantsReader, _ isShared: Bool)
    -> StoredResponse?
  {
    guard let id = reader.string(), let status = reader.number(),
      let isDecoded = reader.byte(), let reason = reader.optionalString(),
      let fields = readFields(from: &reader), let values = readSelection(from: &reader),
      let language = reader.optionalString(), let requestedAt = reader.date(),
      let receivedAt = reader.date(), let range = readRange(from: &reader), let size = reader.size()
    else { return nil }
    var head = HTTPCache.Response(status: Int(status), reason: reason, fields: fields)
    head.isDecoded = isDecoded != 0
    return StoredResponse(
      id: id, response: head,
      varyKey: VaryKey(values: values, language: language), requestedAt: requestedAt,
      receivedAt: receivedAt, range: range, bodySize: size, isShared: isShared)
  }

  private static func readFields(from reader: inout VariantsReader) -> HTTPCache.Fields? {
    guard let count = reader.count() else { return nil }
    var fields: [HTTPCache.Fields.Field] = []
    for _ in 0..<count {
      guard let name = reader.string(), let value = reader.string() else { return nil }
      fields.append(HTTPCache.Fields.Field(name: name, value: value))
    }
    return HTTPCache.Fields(fields)
  }

  private static func readSelection(from reader: inout VariantsReader) -> [String: String?]? {
    guard let count = reader.count() else { return nil }
    var values: [String: String?] = [:]
    for _ in 0..<count {
      guard let name = reader.string(), let value = reader.optionalString() else { return nil }
      values[name] = .some(value)
    }
    return values
  }

  private static func readRange(from reader: inout VariantsReader) -> ContentRange?? {
    guard let hasRange = reader.byte() else { return nil }
    guard hasRange == 1 else { return .some(nil) }
    guard let first = reader.size(), let end = reader.size(), let length = reader.size(),
      first < end,
      end <= length
    else { return nil }
    return ContentRange(positions: first..<end, length: length)
  }
}

/// Appends numbers and strings to bytes.
private struct VariantsWriter {
  private(set) var bytes = Data()

  mutating func write(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func write(_ string: String) {
    write(UInt32(string.utf8.count))
    bytes.append(contentsOf: string.utf8)
  }

  mutating func write(_ string: String?) {
    write(UInt8(string == nil ? 0 : 1))
    if let string { write(string) }
  }
}

/// Reads numbers and strings from bytes; nil for those that the bytes do not have.
private struct VariantsReader {
  private var rest: Data

  init(_ bytes: Data) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func byte() -> UInt8? { rest.popFirst() }

  mutating func number() -> UInt32? { integer() }

  /// A number of elements that follow. Each has at least one byte, so a larger number is damage,
  /// and must not be reserved in memory.
  mutating func count() -> Int? {
    guard let count: UInt32 = integer(), count <= rest.count else { return nil }
    return Int(count)
  }

  mutating func size() -> Int? {
    guard let size: UInt64 = integer() else { return nil }
    return Int(exactly: size)
  }

  mutating func date() -> Date? {
    guard let bits: UInt64 = integer() else { return nil }
    let seconds = Double(bitPattern: bits)
    // Times are computed with integers; no response is from beyond their range.
    return abs(seconds) <= HTTPDate.furthest ? Date(timeIntervalSince1970: seconds) : nil
  }

  mutating func string() -> String? {
    guard let length = count() else { return nil }
    defer { rest = rest.dropFirst(length) }
    return String(decoding: rest.prefix(length), as: UTF8.self)
  }

  mutating func optionalString() -> String?? {
    guard let hasString = byte() else { return nil }
    guard hasString == 1 else { return .some(nil) }
    return string().map { .some($0) }
  }

  private mutating func integer<Number: FixedWidthInteger>() -> Number? {
    let size = MemoryLayout<Number>.size
    guard rest.count >= size else { return nil }
    defer { rest = rest.dropFirst(size) }
    return rest.prefix(size).reversed().reduce(0) { $0 << 8 | Number($1) }
  }
}
