/// The changes of one transaction, and the string that its row of `stead_history` has of them.
///
/// The string is a JSON array of groups, each of changes of one kind to rows of one entity:
///
/// | place | content |
/// |---|---|
/// | 0 | 0 for inserts, 1 for updates, 2 for deletes |
/// | 1 | the entity's name |
/// | 2 | the rows: first number, count, first number, count … |
/// | 3 | the edits' ages: first age, count …; an age is the transaction's stamp less the edit's, and falls by one from edit to edit within a run. An empty list stands for 0 |
/// | 4 | of updates, the names of the changed properties; of deletes, those of the preserved ones. Absent from inserts |
/// | 5 | of deletes, for each row an array of the preserved values as SQL literals |
///
/// Noting a change of a run costs some nanoseconds, since rows that follow each other are one entry.
struct ChangeList {
  enum Kind: Int { case insert, update, delete }

  /// Numbers in runs, each of which rises by one: first number, count …
  struct Runs {
    private(set) var numbers: [Int64] = []

    /// The numbers one by one.
    var all: [Int64] {
      stride(from: 0, to: numbers.count, by: 2).flatMap { place in
        (0..<numbers[place + 1]).map { numbers[place] + $0 }
      }
    }

    mutating func append(_ number: Int64) {
      let end = numbers.count
      if end > 0, numbers[end - 2] &+ numbers[end - 1] == number {
        numbers[end - 1] &+= 1
      } else {
        numbers.append(number)
        numbers.append(1)
      }
    }
  }

  private struct Group {
    let kind: Kind
    let entity: EntityLayout
    let properties: PropertySet
    var rows = Runs()
    var stamps = Runs()
    var hasStamps = true
    /// JSON arrays, one for each row.
    var values: [String] = []
  }

  /// How many groups are searched for one that takes a change, before another is begun.
  private static let searchLimit = 16

  private var groups: [Group] = []
  /// The author of the changes.
  var author: String?

  var isEmpty: Bool { groups.isEmpty }
  /// The greatest stamp of a change.
  private(set) var newestStamp: Int64 = 0

  /// Notes a change; without a stamp it gets the transaction's.
  mutating func note(
    _ kind: Kind, _ entity: EntityLayout, row: Int64, stamp: Int64? = nil,
    properties: PropertySet = PropertySet(), values: String? = nil
  ) {
    let place = place(kind, entity, properties)
    groups[place].rows.append(row)
    if let stamp {
      groups[place].stamps.append(stamp)
      newestStamp = max(newestStamp, stamp)
    } else {
      groups[place].hasStamps = false
    }
    if let values { groups[place].values.append(values) }
  }

  private mutating func place(
    _ kind: Kind, _ entity: EntityLayout, _ properties: PropertySet
  ) -> Int {
    // Objects of one class with the same changes mostly follow each other.
    for place in groups.indices.suffix(Self.searchLimit).reversed()
    where groups[place].entity === entity && groups[place].kind == kind
      && groups[place].properties == properties
    {
      return place
    }
    groups.append(Group(kind: kind, entity: entity, properties: properties))
    return groups.count - 1
  }

  /// The rows that are changed, for the log of commits.
  var rows: CommitLog.Rows {
    var rows = CommitLog.Rows()
    for group in groups {
      let numbers = group.rows.all
      rows.add(
        CommitLog.Rows.Table(
          name: group.entity.table, written: numbers,
          deleted: group.kind == .delete ? numbers : []))
    }
    return rows
  }

  // MARK: The string

  /// The string for a transaction with a stamp.
  func text(at stamp: Int64) -> String {
    var bytes: [UInt8] = [UInt8(ascii: "[")]
    for group in groups {
      if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
      Self.append(group, at: stamp, to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func append(_ group: Group, at stamp: Int64, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "["))
    bytes.append(UInt8(ascii: "0") + UInt8(group.kind.rawValue))
    bytes.append(UInt8(ascii: ","))
    append(group.entity.name, to: &bytes)
    bytes.append(UInt8(ascii: ","))
    append(group.rows.numbers, to: &bytes)
    bytes.append(UInt8(ascii: ","))
    append(ages(of: group, at: stamp), to: &bytes)
    if group.kind != .insert {
      bytes.append(UInt8(ascii: ","))
      appendList(group.entity.properties.filter { group.properties.contains($0.index) }, &bytes) {
        append($0.name, to: &$1)
      }
    }
    if !group.values.isEmpty {
      bytes.append(UInt8(ascii: ","))
      appendList(group.values, &bytes) { $1.append(contentsOf: $0.utf8) }
    }
    bytes.append(UInt8(ascii: "]"))
  }

  private static func ages(of group: Group, at stamp: Int64) -> [Int64] {
    guard group.hasStamps else { return [] }
    var numbers = group.stamps.numbers
    for place in stride(from: 0, to: numbers.count, by: 2) {
      numbers[place] = stamp - numbers[place]
    }
    return numbers
  }

  private static func appendList<Element>(
    _ list: [Element], _ bytes: inout [UInt8], _ append: (Element, inout [UInt8]) -> Void
  ) {
    bytes.append(UInt8(ascii: "["))
    for (place, element) in list.enumerated() {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      append(element, &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  private static func append(_ numbers: [Int64], to bytes: inout [UInt8]) {
    appendList(numbers, &bytes) { append($0, to: &$1) }
  }

  private static func append(_ number: Int64, to bytes: inout [UInt8]) {
    if number < 0 { bytes.append(UInt8(ascii: "-")) }
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
  private static func append(_ name: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: name.utf8)
    bytes.append(UInt8(ascii: "\""))
  }
}
