/// Collects the changes of one transaction, for its text in the ``HistoryFormat``.
///
/// Recording a change of a run costs some nanoseconds, since consecutive rows are one entry.
struct ChangeList {
  typealias Kind = HistoryFormat.Kind

  /// Numbers in runs, each of which rises by one: first number, count …
  ///
  /// The numbers 1, 2, 3 and 7 are `[1, 3, 7, 1]`.
  struct Runs {
    /// The runs: first number, count, first number, count …
    private(set) var numbers: [Int64] = []

    /// The numbers one by one.
    var all: [Int64] {
      stride(from: 0, to: numbers.count, by: 2).flatMap { index in
        (0..<numbers[index + 1]).map { numbers[index] + $0 }
      }
    }

    /// Adds a number: one more to the last run if it continues that, or a run of its own.
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

  /// Changes of one kind, to the same properties of rows of one entity.
  private struct Group {
    let kind: Kind
    let entity: EntityLayout
    let properties: PropertySet
    var rows = Runs()
    var stamps = Runs()
    /// Whether all changes have stamps. Otherwise the group's edits count as made at the commit.
    var hasStamps = true
    /// JSON arrays, one for each row.
    var values: [String] = []
  }

  /// How many groups are searched for one that takes a change, before another is begun.
  private static let searchLimit = 16

  /// The groups, in the order of their first changes.
  private var groups: [Group] = []
  /// The author of the changes.
  var author: String?

  var isEmpty: Bool { groups.isEmpty }
  /// The greatest stamp of a change.
  private(set) var newestStamp: Int64 = 0

  /// Records a change; without a stamp it gets the transaction's.
  mutating func record(
    _ kind: Kind, _ entity: EntityLayout, row: Int64, stamp: Int64? = nil,
    properties: PropertySet = PropertySet(), values: String? = nil
  ) {
    let index = groupIndex(kind, entity, properties)
    groups[index].rows.append(row)
    if let stamp {
      groups[index].stamps.append(stamp)
      newestStamp = max(newestStamp, stamp)
    } else {
      // Ages are parallel to the rows, so one row without a stamp leaves the group without ages.
      groups[index].hasStamps = false
    }
    if let values { groups[index].values.append(values) }
  }

  /// The index of the group for a change, which is begun if none of the last ones fits.
  private mutating func groupIndex(
    _ kind: Kind, _ entity: EntityLayout, _ properties: PropertySet
  ) -> Int {
    // Objects of one class with the same changes mostly follow each other. The limit keeps recording linear if they alternate.
    for index in groups.indices.suffix(Self.searchLimit).reversed()
    where groups[index].entity === entity && groups[index].kind == kind
      && groups[index].properties == properties
    {
      return index
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

  // MARK: The text

  /// The text for a transaction with a stamp.
  func text(at stamp: Int64) -> String {
    var writer = HistoryFormat.Writer()
    for group in groups {
      let names =
        group.kind == .insert
        ? nil
        : group.entity.properties.filter { group.properties.contains($0.index) }.map(\.name)
      writer.add(
        group.kind, group.entity.name, rows: group.rows.numbers,
        ages: Self.ages(of: group, at: stamp), names: names, values: group.values)
    }
    return writer.text()
  }

  /// How long before the transaction each change was made; empty, which stands for 0, if some have no stamp of their
  /// own.
  private static func ages(of group: Group, at stamp: Int64) -> [Int64] {
    guard group.hasStamps else { return [] }
    var numbers = group.stamps.numbers
    // Stamps rise by one within a run, and ages fall by one, so that the counts stay.
    for index in stride(from: 0, to: numbers.count, by: 2) {
      numbers[index] = stamp - numbers[index]
    }
    return numbers
  }
}
