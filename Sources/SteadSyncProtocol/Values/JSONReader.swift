import SteadEncoding

/// Reads JSON from untrusted bytes. Never traps; throws ``SyncCodingError``.
///
/// Stricter than JSON where peers could differ: a whole number must fit 64 bits, a number must be finite, no member may
/// appear twice, and nothing may be nested deeper than ``SyncValue/depthLimit``.
///
/// "JSON" in Documentation/SyncProtocol.md.
struct JSONReader {
  private var tokens: JSONTokenizer

  /// Reads a whole document: one value, and nothing after it but white space.
  static func value(_ bytes: [UInt8]) throws(SyncCodingError) -> SyncValue {
    let result = bytes.withUnsafeBytes { bytes -> Result<SyncValue, JSONSyntaxError> in
      var reader = JSONReader(tokens: JSONTokenizer(bytes, depthLimit: SyncValue.depthLimit))
      return Result { () throws(JSONSyntaxError) in try reader.document() }
    }
    switch result {
    case .success(let value): return value
    case .failure(let error): throw SyncCodingError(error)
    }
  }

  /// The whole number that a member of an object is; nil if the object has no such member.
  ///
  /// Checks that the document is one object of well-formed JSON, nested no deeper than ``SyncValue/depthLimit``, and
  /// makes no values of it. The range of other numbers, and whether a name occurs twice, aren't checked.
  static func wholeNumber(_ name: String, in bytes: [UInt8]) throws(SyncCodingError) -> Int64? {
    let result = bytes.withUnsafeBytes { bytes -> Result<Int64?, JSONSyntaxError> in
      var reader = JSONReader(tokens: JSONTokenizer(bytes, depthLimit: SyncValue.depthLimit))
      return Result { () throws(JSONSyntaxError) in try reader.wholeNumber(name) }
    }
    switch result {
    case .success(let number): return number
    case .failure(let error): throw SyncCodingError(error)
    }
  }

  private mutating func wholeNumber(_ name: String) throws(JSONSyntaxError) -> Int64? {
    guard try tokens.next() == .object else { throw tokens.failure("an object") }
    var found: Int64?
    if try tokens.openObject() {
      repeat {
        if try tokens.name() == name {
          guard try tokens.next() == .number, case .int(let value) = try number() else {
            throw tokens.failure("a whole number")
          }
          found = value
        } else {
          try tokens.skipValue()
        }
      } while try tokens.hasNextMember()
    }
    try tokens.end()
    return found
  }

  private mutating func document() throws(JSONSyntaxError) -> SyncValue {
    let value = try value()
    try tokens.end()
    return value
  }

  private mutating func value() throws(JSONSyntaxError) -> SyncValue {
    switch try tokens.next() {
    case .null: return .null
    case .true: return .bool(true)
    case .false: return .bool(false)
    case .number: return try number()
    case .string: return .string(try tokens.string())
    case .array:
      var values: [SyncValue] = []
      guard try tokens.openArray() else { return .array(values) }
      repeat { values.append(try value()) } while try tokens.hasNextElement()
      return .array(values)
    case .object: return .object(try members())
    }
  }

  /// Reads an object. No name may come twice.
  private mutating func members() throws(JSONSyntaxError) -> [String: SyncValue] {
    guard try tokens.openObject() else { return [:] }
    // Most objects have that many; growing costs more than the room.
    var members = [String: SyncValue](minimumCapacity: 6)
    repeat {
      let name = try tokens.name()
      // Equal as Swift compares strings, by canonical equivalence: two such members could mean
      // different things to peers.
      guard members.updateValue(try value(), forKey: name) == nil else {
        throw tokens.failure("another name")
      }
    } while try tokens.hasNextMember()
    return members
  }

  /// Reads a number: whole if it is written without a point and an exponent.
  private mutating func number() throws(JSONSyntaxError) -> SyncValue {
    let number = try tokens.number()
    let text = String(decoding: number.text, as: UTF8.self)
    if number.isWhole {
      guard let number = Int64(text) else { throw tokens.failure("a whole number of 64 bits") }
      return .int(number)
    }
    // `Double` reads 1e999 as infinity, which no peer could write back.
    guard let number = Double(text), number.isFinite else {
      throw tokens.failure("a finite number")
    }
    return .double(number)
  }
}

extension SyncCodingError {
  fileprivate init(_ error: JSONSyntaxError) {
    switch error.reason {
    case .expected(let expected):
      self.init(
        .malformed, "The JSON is damaged at byte \(error.position): \(expected) was expected.")
    case .depth:
      self.init(.limit, "The JSON is nested deeper than \(SyncValue.depthLimit) levels.")
    }
  }
}
