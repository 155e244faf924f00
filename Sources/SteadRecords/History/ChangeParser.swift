/// Reads the string of changes in the row of a transaction. ``ChangeList``, which writes it, draws the format.
///
/// The string is JSON, but is not decoded as such: a history is read as fast as its bytes are scanned, names are
/// compared as bytes, and numbers go straight into runs. What it returns as bytes points into the row and is valid
/// until the statement steps.
struct ChangeParser {
  /// The string does not have the format: the row was damaged, or written by another program.
  struct Malformed: Error {}

  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  // MARK: - Tokens

  /// Skips white space, which another program may have added.
  private mutating func skipSpace() {
    while position < bytes.count, bytes[position] <= 0x20 { position += 1 }
  }

  /// Moves past a mark if it comes next.
  mutating func takes(_ mark: Unicode.Scalar) -> Bool {
    skipSpace()
    guard position < bytes.count, bytes[position] == UInt8(ascii: mark) else { return false }
    position += 1
    return true
  }

  /// Moves past a mark.
  ///
  /// - Throws: ``Malformed`` if something else comes next.
  mutating func expect(_ mark: Unicode.Scalar) throws {
    if !takes(mark) { throw Malformed() }
  }

  /// Reads an integer.
  ///
  /// - Throws: ``Malformed`` if there is none, or it does not fit.
  mutating func number() throws -> Int64 {
    let isNegative = takes("-")
    skipSpace()
    let start = position
    var value: Int64 = 0
    while position < bytes.count, case let digit = bytes[position] &- UInt8(ascii: "0"), digit < 10
    {
      // A damaged row must not end the program.
      let (product, isOver) = value.multipliedReportingOverflow(by: 10)
      let (sum, isOverAgain) = product.addingReportingOverflow(Int64(digit))
      if isOver || isOverAgain { throw Malformed() }
      value = sum
      position += 1
    }
    if position == start { throw Malformed() }
    return isNegative ? -value : value
  }

  /// The bytes of a string between its quotes, with escapes as they are written.
  mutating func rawString() throws -> UnsafeBufferPointer<UInt8> {
    try expect("\"")
    let start = position
    while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
      // An escaped quote does not end the string.
      position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    guard position < bytes.count else { throw Malformed() }
    defer { position += 1 }
    return UnsafeBufferPointer(rebasing: bytes[start..<position])
  }

  /// Reads a string.
  mutating func string() throws -> String {
    let raw = try rawString()
    if !raw.contains(UInt8(ascii: "\\")) { return String(decoding: raw, as: UTF8.self) }
    return try Self.unescaped(raw)
  }

  /// A string without its escapes. Foundation's decoder refuses control characters, which SQLite allows.
  private static func unescaped(_ raw: UnsafeBufferPointer<UInt8>) throws -> String {
    var units: [UInt8] = []
    var position = 0
    while position < raw.count {
      guard raw[position] == UInt8(ascii: "\\") else {
        units.append(raw[position])
        position += 1
        continue
      }
      guard position + 1 < raw.count else { throw Malformed() }
      let mark = Unicode.Scalar(raw[position + 1])
      position += 2
      switch mark {
      case "n": units.append(0x0A)
      case "r": units.append(0x0D)
      case "t": units.append(0x09)
      case "b": units.append(0x08)
      case "f": units.append(0x0C)
      case "\"", "\\", "/": units.append(UInt8(ascii: mark))
      default: throw Malformed()
      }
    }
    return String(decoding: units, as: UTF8.self)
  }

  /// Calls a body at each element of an array. The body must read the whole element.
  mutating func forEach(_ body: (inout Self) throws -> Void) throws {
    try expect("[")
    if takes("]") { return }
    repeat { try body(&self) } while takes(",")
    try expect("]")
  }

  /// Reads pairs of a first number and a count, of which each stands for a run of numbers that rises by one.
  mutating func runs() throws -> NumberRuns {
    var runs = NumberRuns()
    try expect("[")
    if takes("]") { return runs }
    repeat {
      let first = try number()
      try expect(",")
      let count = try number()
      // Also a limit on what a damaged string makes this program allocate.
      guard count > 0, count <= Int64(UInt32.max),
        first.addingReportingOverflow(count).overflow == false
      else { throw Malformed() }
      runs.append((first, count))
    } while takes(",")
    try expect("]")
    return runs
  }

  /// The bytes of an array of strings, with the brackets; for look-ups by these bytes.
  mutating func rawStrings() throws -> UnsafeBufferPointer<UInt8> {
    skipSpace()
    let start = position
    try forEach { _ = try $0.rawString() }
    return UnsafeBufferPointer(rebasing: bytes[start..<position])
  }

  /// Reads an array of strings.
  mutating func strings() throws -> [String] {
    var strings: [String] = []
    try forEach { strings.append(try $0.string()) }
    return strings
  }
}

// MARK: - Runs of numbers

/// A list of numbers, compressed to runs in which each number is one more, or one less, than the one before. The
/// first run is stored inline: most lists have only one.
struct NumberRuns {
  typealias Run = (first: Int64, count: Int64)

  private var head: Run = (0, 0)
  private var others: [Run] = []

  /// The number of numbers.
  private(set) var count: Int64 = 0

  /// Adds a run at the end.
  mutating func append(_ run: Run) {
    if count == 0 { head = run } else { others.append(run) }
    count += run.count
  }

  /// Calls a body with each number, for runs that rise.
  func forEach(_ body: (Int64) throws -> Void) rethrows {
    for number in head.first..<(head.first + head.count) { try body(number) }
    for run in others {
      for number in run.first..<(run.first + run.count) { try body(number) }
    }
  }

  /// Reads the numbers one by one, for runs that fall.
  struct FallingReader {
    private let runs: NumberRuns
    private var run: Run
    private var next = 0

    init(_ runs: NumberRuns) {
      self.runs = runs
      run = runs.head
    }

    /// The next number; 0 after the last one.
    mutating func read() -> Int64 {
      if run.count == 0 {
        guard next < runs.others.count else { return 0 }
        run = runs.others[next]
        next += 1
      }
      let number = run.first
      run = (number - 1, run.count - 1)
      return number
    }
  }
}
