/// The text that a row of `stead_history` has of its transaction's changes. It is written, read and built by SQL here
/// alone.
///
/// It is a JSON array of groups, each of changes of one kind to rows of one entity:
///
/// | index | content |
/// |---|---|
/// | 0 | 0 for inserts, 1 for updates, 2 for deletes |
/// | 1 | the entity's name |
/// | 2 | the rows: first number, count, first number, count … |
/// | 3 | the edits' ages: first age, count …; an age is the transaction's stamp less the edit's, and falls by one from edit to edit within a run. An empty list stands for 0 |
/// | 4 | of updates, the names of the changed properties; of deletes, those of the preserved ones. Absent from inserts |
/// | 5 | of deletes, for each row an array of the preserved values as SQL literals |
///
/// For example, this transaction inserted trips 1 to 3, and then changed the property `place` of
/// stop 7:
///
/// ```json
/// [[0,"Trip",[1,3],[3,3]],[1,"Stop",[7,1],[0,1],["place"]]]
/// ```
///
/// The format is fixed: stores of all versions have it, and so have triggers in the files, which write the history of
/// other programs. SQLite's functions write strings that JSON forbids, with control characters other than line breaks
/// and tabs, so the reader is more lenient than one of JSON. It is also faster: a history is read as fast as its bytes
/// are scanned, names are compared as bytes, and numbers go straight into runs.
enum HistoryFormat {
  /// What was done to the rows of a group, as the text has it.
  enum Kind: Int { case insert, update, delete }

  /// The text does not have the format: the row was damaged, or written by another program.
  struct Malformed: Error {}

  /// The most changes that one transaction may have, and one fetch of the history returns.
  ///
  /// A run of a few bytes may claim any number of rows, and each becomes an object. This many take some gigabyte.
  static let changeLimit: Int64 = 1 << 23

  // MARK: - Writing

  /// Writes the groups of a transaction.
  struct Writer {
    /// The text so far: JSON is appended as bytes, without a tree.
    private var bytes: [UInt8] = [UInt8(ascii: "[")]

    /// Writes a group.
    ///
    /// - Parameters:
    ///   - rows: First number, count … A count is 1 or more.
    ///   - ages: The same of the ages; empty where all are 0.
    ///   - names: Names of properties, for all but inserts.
    ///   - values: JSON arrays, one for each row; empty where nothing is preserved.
    mutating func add(
      _ kind: Kind, _ entity: String, rows: [Int64], ages: [Int64], names: [String]?,
      values: [String]
    ) {
      if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
      bytes.append(UInt8(ascii: "["))
      bytes.append(UInt8(ascii: "0") + UInt8(kind.rawValue))
      bytes.append(UInt8(ascii: ","))
      append(entity)
      bytes.append(UInt8(ascii: ","))
      append(rows) { $0.append($1) }
      bytes.append(UInt8(ascii: ","))
      append(ages) { $0.append($1) }
      // Absent from inserts, not empty.
      if let names {
        bytes.append(UInt8(ascii: ","))
        append(names) { $0.append($1) }
      }
      if !values.isEmpty {
        bytes.append(UInt8(ascii: ","))
        // JSON already: SQL has made each array.
        append(values) { $0.bytes.append(contentsOf: $1.utf8) }
      }
      bytes.append(UInt8(ascii: "]"))
    }

    /// The text of the groups.
    consuming func text() -> String {
      bytes.append(UInt8(ascii: "]"))
      return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends an array whose elements a closure appends.
    private mutating func append<Element>(
      _ list: [Element], _ append: (inout Writer, Element) -> Void
    ) {
      bytes.append(UInt8(ascii: "["))
      for (index, element) in list.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        append(&self, element)
      }
      bytes.append(UInt8(ascii: "]"))
    }

    /// Appends a number in decimal digits, without making a string.
    private mutating func append(_ number: Int64) {
      if number < 0 { bytes.append(UInt8(ascii: "-")) }
      // `magnitude`, since the least number has no positive counterpart.
      var rest = number.magnitude
      let start = bytes.count
      repeat {
        let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
        bytes.append(UInt8(ascii: "0") + UInt8(digit))
        rest = quotient
      } while rest > 0
      bytes[start...].reverse()
    }

    /// A Swift name, which has no character that JSON escapes.
    private mutating func append(_ name: String) {
      bytes.append(UInt8(ascii: "\""))
      bytes.append(contentsOf: name.utf8)
      bytes.append(UInt8(ascii: "\""))
    }
  }

  /// The text of one transaction with the groups of several; nil if there are none.
  static func joined(_ texts: [String]) -> String? {
    // Without the brackets of each list.
    texts.isEmpty ? nil : "[\(texts.map { $0.dropFirst().dropLast() }.joined(separator: ","))]"
  }

  // MARK: - Writing by SQL

  // Stores have this SQL in their triggers, which are made again where a character of it differs.

  /// SQL for the text of a transaction with one group, from the columns of `stead_foreign` in a row `new`.
  static let foreignText =
    """
    '[[' || new.kind || ',"' || new.entity || '",[' || new.row || ',1],[]' || \
    CASE new.kind WHEN 0 THEN '' WHEN 1 THEN ',[' || substr(new.properties, 2) || ']' \
    ELSE ',' || new.properties || ',[' || new.preserved || ']' END || ']]'
    """

  /// SQL for a changed property's item in `properties` of an update, where all items begin with a comma.
  static func changedItem(_ name: String) -> String { "',\"\(name)\"'" }

  /// The same, and an empty string where the property's column, a quoted name, did not change.
  static func changedItem(_ name: String, ifChanged column: String) -> String {
    "iif(new.\(column) IS NOT old.\(column), \(changedItem(name)), '')"
  }

  /// SQL for `properties` of a delete.
  static func preservedList(_ names: [String]) -> String {
    "'[\(names.map { "\"\($0)\"" }.joined(separator: ","))]'"
  }

  /// SQL for a JSON array of columns' values as SQL literals.
  ///
  /// The values `Elba` and NULL are `["'Elba'","NULL"]`.
  static func valueList(_ columns: [String]) -> String {
    let terms = columns.map { column in
      // Not json_array, which a connection that trusts no schema refuses in a trigger.
      var term = "quote(\(column))"
      for (text, escape) in escapes { term = "replace(\(term), \(text), '\(escape)')" }
      return "'\"' || \(term) || '\"'"
    }
    return "'[' || \(terms.joined(separator: " || ',' || ")) || ']'"
  }

  /// What is escaped, as SQL: as little as separates the strings.
  private static let escapes = [
    ("'\\'", "\\\\"), ("'\"'", "\\\""), ("char(10)", "\\n"), ("char(13)", "\\r"),
    ("char(9)", "\\t"),
  ]

  // MARK: - Reading

  /// A group, `[kind, "entity", rows, ages, names?, values?]`; names and values are decoded when they are asked for.
  ///
  /// Its bytes point into the text, and are valid as long as that is: a row's until the statement steps.
  struct Group {
    let kind: Kind
    /// The entity's name between its quotation marks, with escapes.
    let rawEntity: UnsafeBufferPointer<UInt8>
    /// The primary keys, in rising runs.
    let rows: NumberRuns
    /// How long before the commit each change was made, in falling runs.
    let ages: NumberRuns
    /// The array of the properties' names, with its brackets; for look-ups by these bytes.
    let rawNames: UnsafeBufferPointer<UInt8>?
    /// The array of the preserved values, with its brackets.
    private let rawValues: UnsafeBufferPointer<UInt8>?

    /// Reads a group. Names and values are passed over, and decoded on demand.
    fileprivate init(_ parser: inout Parser) throws {
      try parser.expect("[")
      guard let kind = Kind(rawValue: Int(try parser.number())) else { throw Malformed() }
      self.kind = kind
      try parser.expect(",")
      rawEntity = try parser.rawString()
      try parser.expect(",")
      rows = try parser.runs()
      try parser.expect(",")
      ages = try parser.runs()
      // Passed over for now: some readers only want the rows.
      rawNames = parser.takes(",") ? try parser.raw { _ = try $0.rawString() } : nil
      rawValues =
        parser.takes(",")
        ? try parser.raw { try $0.forEach { _ = try $0.rawString() } } : nil
      try parser.expect("]")
    }

    /// The entity's name.
    func entity() throws -> String { try Parser.unescaped(rawEntity) }

    /// The names of the properties; none where the group has no list of them.
    func names() throws -> [String] {
      guard let rawNames else { return [] }
      var parser = Parser(rawNames)
      return try parser.strings()
    }

    /// The literals of the preserved values, for each row; none where the group has no list of them.
    func values() throws -> [[String]] {
      guard let rawValues else { return [] }
      var parser = Parser(rawValues)
      var values: [[String]] = []
      try parser.forEach { values.append(try $0.strings()) }
      return values
    }
  }

  /// Calls a body with each group of a text.
  ///
  /// - Throws: ``Malformed``, after the groups before the damage; also where the groups have more than ``changeLimit``
  ///   rows.
  static func forEachGroup(
    in text: UnsafeBufferPointer<UInt8>, _ body: (Group) throws -> Void
  ) throws {
    var parser = Parser(text)
    var count: Int64 = 0
    try parser.forEach {
      let group = try Group(&$0)
      count += group.rows.count
      if count > changeLimit { throw Malformed() }
      try body(group)
    }
  }

  /// A cursor over the text.
  fileprivate struct Parser {
    private let bytes: UnsafeBufferPointer<UInt8>
    /// The index of the next byte.
    private var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

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
      // Bytes below "0" wrap around to more than 9.
      while position < bytes.count, case let digit = bytes[position] &- UInt8(ascii: "0"),
        digit < 10
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

    /// A string without its escapes. Foundation's decoder refuses control characters, which SQLite allows.
    static func unescaped(_ raw: UnsafeBufferPointer<UInt8>) throws -> String {
      // Nearly all strings, without a copy of the bytes.
      if !raw.contains(UInt8(ascii: "\\")) { return String(decoding: raw, as: UTF8.self) }
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
        // `\u` is in no text that this library or its triggers write.
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

    /// The bytes of an array, brackets included, whose elements a body moves past.
    mutating func raw(
      _ body: (inout Self) throws -> Void
    ) throws -> UnsafeBufferPointer<UInt8> {
      skipSpace()
      let start = position
      try forEach(body)
      return UnsafeBufferPointer(rebasing: bytes[start..<position])
    }

    /// Reads an array of strings.
    mutating func strings() throws -> [String] {
      var strings: [String] = []
      try forEach { strings.append(try Self.unescaped(try $0.rawString())) }
      return strings
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
        // The sum, too: a list may have many runs.
        guard count > 0, count <= changeLimit, runs.count <= changeLimit,
          first.addingReportingOverflow(count).overflow == false
        else { throw Malformed() }
        runs.append((first, count))
      } while takes(",")
      try expect("]")
      return runs
    }
  }
}

// MARK: - Runs of numbers

/// A list of numbers, compressed to runs in which each number is one more, or one less, than the one before. The
/// first run is stored inline: most lists have only one.
///
/// The text `[3,3,7,1]` is the list 3, 4, 5 and 7; as ages, it is 3, 2, 1 and 7.
struct NumberRuns {
  /// A first number, and how many there are.
  typealias Run = (first: Int64, count: Int64)

  /// The first run; its count is 0 in an empty list.
  private var head: Run = (0, 0)
  /// The further runs.
  private var others: [Run] = []

  /// The number of numbers.
  private(set) var count: Int64 = 0

  /// Adds a run at the end.
  mutating func append(_ run: Run) {
    if count == 0 { head = run } else { others.append(run) }
    count += run.count
  }

  /// Calls a body with each number, for runs that rise.
  ///
  /// The sums do not overflow: ``HistoryFormat`` reads no run that goes beyond the greatest number.
  func forEach(_ body: (Int64) throws -> Void) rethrows {
    for number in head.first..<(head.first + head.count) { try body(number) }
    for run in others {
      for number in run.first..<(run.first + run.count) { try body(number) }
    }
  }

  /// Reads the numbers one by one, for runs that fall.
  struct FallingReader {
    /// The list, for the runs that follow.
    private let runs: NumberRuns
    /// What is left of the current run.
    private var run: Run
    /// The index of the next run in `others`.
    private var next = 0

    /// Begins at the first number.
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
      // A damaged list may begin at the smallest number.
      run = (number &- 1, run.count - 1)
      return number
    }
  }
}
