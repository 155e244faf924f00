import Foundation
import SteadSQLite

/// The functions and collations that queries use and SQLite lacks.
///
/// They exist on connections of this package alone. No table, index or trigger of a store mentions them, so that any SQLite
/// reads and writes a store.
enum SteadSQLFunctions {
  /// All functions, registered with each connection to a store.
  static let functions: [SQLFunction] =
    TextFunctions.all + NumberFunctions.all + ValueFunctions.all

  /// All collations, registered with each connection to a store. An index may not use one: other
  /// programs lack it.
  ///
  /// | collation | order |
  /// | --- | --- |
  /// | `stead_canonical` | `String`'s `<` |
  /// | `stead_lexical` | `String.StandardComparator.lexical` |
  /// | `stead_localized` | `localizedCompare(_:)` |
  /// | `stead_localized_standard` | `localizedStandardCompare(_:)` |
  /// | `stead_decimal` | `Decimal`'s `<`, of its string |
  static let collations: [SQLCollation] = [
    SQLCollation(name: "stead_canonical") { _, leftCount, left, rightCount, right in
      TextOrder.canonical(
        UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
        UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
    },
    SQLCollation(name: "stead_lexical") { _, leftCount, left, rightCount, right in
      TextOrder.lexical(
        UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
        UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
    },
    SQLCollation(name: "stead_localized") { _, leftCount, left, rightCount, right in
      TextOrder.localized(
        RegionalText.self, UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
        UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
    },
    SQLCollation(name: "stead_localized_standard") { _, leftCount, left, rightCount, right in
      TextOrder.localized(
        RegionalStandardText.self, UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
        UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
    },
    SQLCollation(name: "stead_decimal") { _, leftCount, left, rightCount, right in
      DecimalOrder.compare(
        UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
        UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
    },
  ]
}

extension SQLCall {
  /// The argument as a number; the text that stands for NaN becomes NaN.
  func real(_ index: Int) -> Double { isText(index) ? .nan : double(index) }

  /// Returns a number; NaN as the text that stands for it.
  func returns(_ value: Double) {
    if value.isNaN { returns("NaN") } else { returns(double: value) }
  }
}

// MARK: - Text

/// String functions with Swift's semantics: characters and canonical equivalence, where SQLite has code points and bytes.
enum TextFunctions {
  /// The functions. Each returns NULL for a NULL argument.
  ///
  /// | function | in Swift |
  /// | --- | --- |
  /// | `stead_contains(text, part)` | `contains(_:)` of the standard library |
  /// | `stead_starts(text, part)` | `starts(with:)` |
  /// | `stead_has_prefix(text, part)` | `hasPrefix(_:)` |
  /// | `stead_has_suffix(text, part)` | `hasSuffix(_:)` |
  /// | `stead_standard_contains(text, part)` | `localizedStandardContains(_:)` |
  /// | `stead_caseless_contains(text, part)` | `localizedCaseInsensitiveContains(_:)` |
  /// | `stead_count(text)` | `count`, in characters |
  /// | `stead_lower(text)`, `stead_upper(text)` | `lowercased()`, `uppercased()` |
  /// | `stead_compare(one, other, method)` | the method of ``_StringComparisonMethod`` |
  static let all: [SQLFunction] = [
    .init(name: "stead_contains", arguments: 2) { context, _, arguments in
      test(SQLCall(context, arguments)) { TextSearch.contains($0, $1) }
    },
    .init(name: "stead_starts", arguments: 2) { context, _, arguments in
      test(SQLCall(context, arguments)) { TextSearch.starts($0, $1) }
    },
    .init(name: "stead_has_prefix", arguments: 2) { context, _, arguments in
      test(SQLCall(context, arguments)) { TextSearch.hasPrefix($0, $1) }
    },
    .init(name: "stead_has_suffix", arguments: 2) { context, _, arguments in
      test(SQLCall(context, arguments)) { TextSearch.hasSuffix($0, $1) }
    },
    .init(name: "stead_standard_contains", arguments: 2) { context, _, arguments in
      test(SQLCall(context, arguments)) { TextSearch.standardContains($0, $1) }
    },
    .init(name: "stead_caseless_contains", arguments: 2) { context, _, arguments in
      test(SQLCall(context, arguments)) { TextSearch.caselessContains($0, $1) }
    },
    .init(name: "stead_count", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      guard !call.isNull(0) else { return call.returnNull() }
      let text = call.text(0)
      // Of plain text the bytes are counted, without making a string.
      call.returns(Int64(TextOrder.isPlain(text) ? text.count : call.string(0).count))
    },
    .init(name: "stead_lower", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      if call.isNull(0) { call.returnNull() } else { call.returns(call.string(0).lowercased()) }
    },
    .init(name: "stead_upper", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      if call.isNull(0) { call.returnNull() } else { call.returns(call.string(0).uppercased()) }
    },
    .init(name: "stead_compare", arguments: 3) { context, _, arguments in
      let call = SQLCall(context, arguments)
      guard !call.isNull(0), !call.isNull(1),
        let method = _StringComparisonMethod(rawValue: Int(call.integer(2)))
      else { return call.returnNull() }
      call.returns(Int64(method.compare(call.string(0), call.string(1)).rawValue))
    },
  ]

  /// Returns a test of two strings; NULL if one of them is.
  private static func test(
    _ call: SQLCall, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) {
    if call.isNull(0) || call.isNull(1) { return call.returnNull() }
    call.returns(body(call.text(0), call.text(1)))
  }
}

// MARK: - Numbers

/// Arithmetic as in Swift: NaN is a value, and an integer that overflows has none. SQLite has it
/// the other way around.
enum NumberFunctions {
  /// The functions. Each returns NULL for a NULL operand, and where Swift's result does not exist.
  ///
  /// | function | in Swift |
  /// | --- | --- |
  /// | `stead_add`, `_subtract`, `_multiply`, `_divide` | `+`, `-`, `*` and `/` of `Double` |
  /// | `stead_float(number)` | `Float(number)`, as a number |
  /// | `stead_integer(value, bits)` | the value if an integer of so many bits has it; `bits` is below 0 for unsigned types |
  /// | `stead_remainder(value, divisor, bits)` | `%`, unless it overflows or divides by zero |
  static let all: [SQLFunction] = [
    .init(name: "stead_add", arguments: 2) { context, _, arguments in
      apply(SQLCall(context, arguments)) { $0 + $1 }
    },
    .init(name: "stead_subtract", arguments: 2) { context, _, arguments in
      apply(SQLCall(context, arguments)) { $0 - $1 }
    },
    .init(name: "stead_multiply", arguments: 2) { context, _, arguments in
      apply(SQLCall(context, arguments)) { $0 * $1 }
    },
    .init(name: "stead_divide", arguments: 2) { context, _, arguments in
      apply(SQLCall(context, arguments)) { $0 / $1 }
    },
    .init(name: "stead_float", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      if call.isNull(0) { call.returnNull() } else { call.returns(Double(Float(call.real(0)))) }
    },
    // SQLite turns an integer that is too large into a floating-point number.
    .init(name: "stead_integer", arguments: 2) { context, _, arguments in
      let call = SQLCall(context, arguments)
      guard call.isInteger(0) else { return call.returnNull() }
      let value = call.integer(0)
      if fits(value, call.integer(1)) { call.returns(value) } else { call.returnNull() }
    },
    // The least number by -1 traps in Swift, as its quotient does; SQLite's remainder is 0.
    .init(name: "stead_remainder", arguments: 3) { context, _, arguments in
      let call = SQLCall(context, arguments)
      guard call.isInteger(0), call.isInteger(1) else { return call.returnNull() }
      let (value, divisor) = (call.integer(0), call.integer(1))
      let (quotient, isUndefined) = value.dividedReportingOverflow(by: divisor)
      if isUndefined || !fits(quotient, call.integer(2)) { return call.returnNull() }
      call.returns(value % divisor)
    },
  ]

  /// Whether an integer type has a value: one with a number of bits, negative if it is unsigned.
  private static func fits(_ value: Int64, _ bits: Int64) -> Bool {
    bits >= 64 || (bits < 0 ? value >= 0 && value >> -bits == 0 : isSigned(value, bits))
  }

  /// Whether a number fits into a signed type: the sign bit and all bits above it are equal.
  private static func isSigned(_ value: Int64, _ bits: Int64) -> Bool {
    let rest = value >> (bits - 1)
    return rest == 0 || rest == -1
  }

  /// Returns the result of an operation; NULL if an operand is.
  private static func apply(_ call: SQLCall, _ body: (Double, Double) -> Double) {
    if call.isNull(0) || call.isNull(1) { return call.returnNull() }
    call.returns(body(call.real(0), call.real(1)))
  }
}

// MARK: - Values from JSON

/// Functions that bring values out of JSON, which has fewer types than columns.
enum ValueFunctions {
  /// The functions.
  ///
  /// | function | returns |
  /// | --- | --- |
  /// | `stead_real(text)` | the number of a JSON text, as Swift parses it, or of a string of ``JSONFloat`` |
  /// | `stead_single(text)` | the same, as Swift parses it as a `Float` |
  /// | `stead_double(bits)` | the `Double` with these bits |
  /// | `stead_blob(text)` | the bytes of hexadecimal digits |
  /// | `stead_wrapped(json)` | the array, with each string that has NUL in an array of its own |
  /// | `stead_unwrapped(json)` | the string of what `stead_wrapped` has wrapped |
  /// | `stead_uuid(text)` | the 16 bytes of a UUID |
  static let all: [SQLFunction] = [
    // From the JSON: SQLite may parse a decimal fraction with an error in the last bit.
    .init(name: "stead_real", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      guard !call.isNull(0), let value = JSONFloat.number(call.string(0)) else {
        return call.returnNull()
      }
      call.returns(value)
    },
    .init(name: "stead_single", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      guard !call.isNull(0), let value = JSONFloat.single(call.string(0)) else {
        return call.returnNull()
      }
      call.returns(Double(value))
    },
    // From the bits, as `ListParameter` writes them: a decimal string would not round-trip in SQLite.
    .init(name: "stead_double", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      if call.isNull(0) { return call.returnNull() }
      call.returns(Double(bitPattern: UInt64(bitPattern: call.integer(0))))
    },
    .init(name: "stead_blob", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      if call.isNull(0) { return call.returnNull() }
      call.returns(blob: bytes(fromHexadecimal: call.text(0)))
    },
    .init(name: "stead_wrapped", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      guard call.isText(0), let json = JSONStrings.wrappingNUL(call.text(0)) else {
        return call.returnArgument(0)
      }
      json.withUnsafeBytes { call.returns(text: $0) }
    },
    .init(name: "stead_unwrapped", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      guard !call.isNull(0), let text = JSONStrings.unwrapped(call.text(0)) else {
        return call.returnNull()
      }
      call.returns(text)
    },
    .init(name: "stead_uuid", arguments: 1) { context, _, arguments in
      let call = SQLCall(context, arguments)
      guard !call.isNull(0), let uuid = UUID(uuidString: call.string(0)) else {
        return call.returnNull()
      }
      call.returns(blob: withUnsafeBytes(of: uuid.uuid) { Array($0) })
    },
  ]

  /// The bytes of lowercase hexadecimal digits, as ``ListParameter`` writes them.
  private static func bytes(fromHexadecimal text: UnsafeRawBufferPointer) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count / 2)
    var index = 0
    while index + 1 < text.count {
      result.append(digit(text[index]) << 4 | digit(text[index + 1]))
      index += 2
    }
    return result
  }

  /// The value of a lowercase hexadecimal digit.
  private static func digit(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "a") ? byte - UInt8(ascii: "a") + 10 : byte - UInt8(ascii: "0")
  }
}

// MARK: - Strings with NUL

/// Strings with NUL in JSON, which has it as an escape. SQLite's JSON functions cut such a string off at NUL.
enum JSONStrings {
  /// NUL as JSON writes it.
  private static let escape = Array(#"\u0000"#.utf8)

  /// A JSON array in which each string with NUL is in an array of its own, where `json_each` leaves it as it is; nil if
  /// there is none.
  ///
  /// Strings within other elements stay as they are.
  ///
  /// `["a","b\u0000"]` becomes `["a",["b\u0000"]]`.
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
      // `json_each` takes only the elements of this array apart.
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
    // As `wrappingNUL` makes it.
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
      // Escapes are read from the left: `u0000` after an escaped backslash is no NUL.
      let rest = UnsafeRawBufferPointer(rebasing: json[index...])
      hasNUL = hasNUL || rest.starts(with: escape)
      index += 2
    }
    return (min(index + 1, json.count), hasNUL)
  }

  /// Whether a text has some bytes.
  private static func contains(_ part: [UInt8], _ text: UnsafeRawBufferPointer) -> Bool {
    part.withUnsafeBytes { TextSearch.find($0, in: text) }
  }
}
