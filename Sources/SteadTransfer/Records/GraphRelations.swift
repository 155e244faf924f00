import SteadRecords
import SteadSQLite

/// Resolves the links between rows, each once, whichever side states it.
///
/// A link has two ends, and a source may state it on one or both. So links are sets: of cells
/// (to-one relationships, which their inverses share), and of pairs (many-to-many). If both ends
/// state different links, the element fails.
final class GraphRelations {
  /// A row of the destination.
  struct Row {
    /// The row's number in the table of its hierarchy.
    let number: Int64
    /// How rows of its entity are written.
    let form: RowForm
    /// Its index among the drafts; nil for an existing row.
    let draft: Int?
    /// Whether it stays instead of an element that isn't written. It keeps its own links where they
    /// contradict.
    var isKept = false
  }

  /// A column of an existing row that is to be set.
  private struct Change {
    let row: Row
    let column: String
    let value: SQLValue
    /// The element that states the link.
    let element: Int
    /// Whether the row may lead elsewhere, and then stays as it is.
    let isOptional: Bool
  }

  /// A column that says which of several to-many relationships has a row.
  private struct ListCell: Hashable {
    let root: String
    let number: Int64
    let column: String
  }

  /// The owner: the two objects share the drafts, and this one lives within a call of its `run`.
  private unowned let writing: GraphWriting
  /// The list columns that an element has determined. The first one counts.
  private var assignedLists: Set<ListCell> = []
  /// The links of existing rows.
  private var changes: [Change] = []
  /// The new pairs of each join table.
  private var tables: [PairList: PairTable] = [:]

  init(_ writing: GraphWriting) { self.writing = writing }

  /// Adds the links that an element states.
  ///
  /// - Parameters:
  ///   - source: The row of the source.
  ///   - element: Its index in the batch.
  func add(_ source: StoredRow, _ element: Int) throws {
    let draft = writing.drafts[element]
    let owner = Row(number: draft.number, form: draft.form, draft: element)
    // In the order of declaration, since the order of a dictionary differs from run to run.
    for relationship in draft.form.shape.relationships {
      guard
        let keys = source.relationships[relationship.name]
          ?? source.relationships[relationship.originalName]
      else { continue }
      let targets = try self.targets(keys, of: relationship, element)
      let list = source.lists[relationship.name] ?? source.lists[relationship.originalName]
      add(targets, to: relationship, list, of: owner, element)
    }
  }

  /// The rows that keys of the source lead to, without duplicates. Missing destinations and ones of
  /// another class are failures.
  private func targets(
    _ keys: [StoredRow.Key], of relationship: RowShape.Relationship, _ element: Int
  ) throws -> [Row] {
    var targets: [Row] = []
    var seen: Set<StoredRow.Key> = []
    var rows: Set<StoredRow.Key> = []
    for key in keys where seen.insert(key).inserted {
      guard let target = try writing.row(for: key) else {
        if !writing.options.dropsMissingDestinations {
          writing.fail(element, "\(relationship.name) leads to \(key), which is not moved")
        }
        continue
      }
      guard target.form.shape.lineage.contains(relationship.destination) else {
        writing.fail(
          element, "\(relationship.name) leads to \(key), which is no \(relationship.destination)")
        continue
      }
      // Several rows of the source may have become one record.
      if rows.insert(.init(root: target.form.shape.root, number: target.number)).inserted {
        targets.append(target)
      }
    }
    if !relationship.isToMany, targets.count > 1 {
      writing.fail(element, "\(relationship.name) refers to several rows")
    }
    return targets
  }

  /// Adds the links of one relationship.
  private func add(
    _ targets: [Row], to relationship: RowShape.Relationship, _ list: String?, of owner: Row,
    _ element: Int
  ) {
    switch relationship.storage {
    case .column:
      guard let target = targets.first else { return }
      set(relationship.name, of: owner, to: target.number, element)
      setList(list, relationship, of: owner, element)
      // A one-to-one relationship has a column on both sides.
      if let inverse = inverse(of: relationship, list, target), !inverse.isToMany {
        set(inverse.name, of: target, to: owner.number, element)
        setList(relationship.list, inverse.name, of: target, element)
      }
    case .inverse:
      // A relationship that is stored on the other side always has an inverse.
      guard let name = relationship.inverse else { return }
      for target in targets {
        // The foreign key is in the destinations' rows.
        set(name, of: target, to: owner.number, element, isOptional: target.isKept)
        if !target.isKept { setList(relationship.list, name, of: target, element) }
      }
      setOrder(of: targets, name, element)
    case .pairs(let list, let isOwner):
      // A relationship that is its own inverse needs both directions.
      let isSymmetric =
        relationship.inverse == relationship.name
        && owner.form.shape.lineage.contains(relationship.destination)
      for target in targets {
        let (owner, other) = (owner.number, target.number)
        // A join table has its pairs once, whichever side states them.
        tables[list, default: .init()].add(
          owner: isOwner ? owner : other, target: isOwner ? other : owner)
        if isSymmetric { tables[list]?.add(owner: other, target: owner) }
      }
      tables[list, default: .init()].setOrder(
        targets.map(\.number), of: owner.number, isOwner: isOwner)
    }
  }

  /// The relationship that leads back. If several do, the named one, else none: then the other row
  /// states it.
  private func inverse(
    of relationship: RowShape.Relationship, _ list: String?, _ target: Row
  ) -> RowShape.Relationship? {
    let name = relationship.lists.isEmpty ? relationship.inverse : list
    return name.flatMap { target.form.relationships[$0] }
  }

  /// Records which of several to-many relationships has a row, by name.
  private func setList(
    _ name: String?, _ toOne: RowShape.Relationship, of row: Row, _ element: Int
  ) {
    guard let name else { return }
    let list = toOne.lists.first { $0.name == name || $0.originalName == name }
    setList(list?.number, toOne.name, of: row, element)
  }

  /// Records it by number. The first one counts: sources that store all of them in one column name
  /// the row in each.
  private func setList(_ list: Int?, _ toOne: String, of row: Row, _ element: Int) {
    guard let list, case .column(_, let column?)? = row.form.relationships[toOne]?.storage
    else { return }
    let cell = ListCell(root: row.form.shape.root, number: row.number, column: column)
    // The first list needs no value, since NULL stands for it.
    if assignedLists.insert(cell).inserted, list > 0 {
      set(column, of: row, to: Int64(list), element)
    }
  }

  /// Sets the foreign key of a row to a number, in its draft or later by an update.
  private func set(
    _ column: String, of row: Row, to number: Int64, _ element: Int, isOptional: Bool = false
  ) {
    // A draft is changed in memory, and an existing row only after all rows are inserted.
    let value = SQLValue.integer(number)
    guard let draft = row.draft else {
      changes.append(
        Change(row: row, column: column, value: value, element: element, isOptional: isOptional))
      return
    }
    guard let index = row.form.columnIndices[column] else { return }
    let current = writing.drafts[draft].cells[index]
    // The other side of the same link may have been stated before. Another value is a
    // contradiction.
    guard current == .null || current == value else {
      writing.fail(
        element, "the two sides of \(column) of \(row.form.shape.name) contradict each other")
      return
    }
    writing.drafts[draft].cells[index] = value
  }

  /// Records an explicit order, unless the destinations are in the order of their numbers anyway,
  /// which is the default.
  private func setOrder(of targets: [Row], _ toOne: String, _ element: Int) {
    guard !zip(targets, targets.dropFirst()).allSatisfy({ $0.number < $1.number }) else { return }
    for (position, target) in targets.enumerated() {
      let storage = target.form.relationships[toOne]?.storage
      guard case .column(let order?, _)? = storage else { continue }
      set(order, of: target, to: Int64(position), element, isOptional: target.isKept)
    }
  }

  /// Checks the minimum and maximum number of destinations of each relationship, after all links
  /// are known.
  func checkCounts() {
    // Positions are known only after all orders are.
    for list in tables.keys { tables[list]?.assignPositions() }
    var counts: [InverseEnd: Int] = [:]
    // Counting is a pass over all drafts, so it is skipped for models without such limits.
    let limited = Set(
      writing.drafts.flatMap { $0.form.shape.relationships }.filter {
        $0.isToMany && ($0.minimum > 0 || $0.maximum > 0)
      }.map(\.name))
    if !limited.isEmpty { counts = countInverses() }
    for (element, draft) in writing.drafts.enumerated() {
      for relationship in draft.form.shape.relationships {
        // A to-one relationship can't have too many.
        guard relationship.minimum > 0 || (relationship.isToMany && relationship.maximum > 0)
        else { continue }
        let count = self.count(of: relationship, draft, counts)
        guard count >= relationship.minimum,
          relationship.maximum == 0 || count <= relationship.maximum
        else {
          writing.fail(
            element, "\(relationship.name) has too few or too many destinations for its model")
          continue
        }
      }
    }
  }

  /// A row as the destination of foreign keys: what a to-many relationship counts.
  private struct InverseEnd: Hashable {
    let root: String
    let column: String
    let list: Int?
    let number: SQLValue
  }

  /// The number of destinations of a row's relationship.
  private func count(
    of relationship: RowShape.Relationship, _ draft: GraphWriting.Draft, _ counts: [InverseEnd: Int]
  ) -> Int {
    switch relationship.storage {
    case .column:
      draft.form.columnIndices[relationship.name].map { draft.cells[$0] == .null ? 0 : 1 } ?? 0
    case .inverse:
      counts[
        InverseEnd(
          root: relationship.destinationRoot, column: relationship.inverse ?? "",
          list: relationship.list, number: .integer(draft.number))] ?? 0
    case .pairs(let list, let isOwner):
      tables[list]?.count(of: draft.number, isOwner: isOwner) ?? 0
    }
  }

  /// The number of rows that refer to each row by each column.
  private func countInverses() -> [InverseEnd: Int] {
    var counts: [InverseEnd: Int] = [:]
    for draft in writing.drafts {
      let root = draft.form.shape.root
      for relationship in draft.form.shape.relationships where !relationship.isToMany {
        guard let cell = draft.form.columnIndices[relationship.name] else { continue }
        let end = InverseEnd(
          root: root, column: relationship.name, list: list(of: relationship, draft),
          number: draft.cells[cell])
        counts[end, default: 0] += 1
      }
    }
    return counts
  }

  /// Which of several to-many relationships has a draft; 0 is the first.
  private func list(
    of relationship: RowShape.Relationship, _ draft: GraphWriting.Draft
  ) -> Int? {
    guard case .column(_, let column?) = relationship.storage else { return nil }
    // NULL is 0: the first list needs no value.
    if let index = draft.form.columnIndices[column], case .integer(let list) = draft.cells[index] {
      return Int(list)
    }
    return 0
  }

  // MARK: - Writing

  /// Writes the links that aren't in the columns of new rows: those of existing rows, and pairs.
  func write() throws {
    for change in changes {
      let isSet = try writing.rows.set(
        change.column, of: change.row.number, in: change.row.form.shape, to: change.value,
        from: [.null, change.value])
      // Sets the column only if it is NULL or has this value: an existing link is never taken away.
      guard isSet || change.isOptional else {
        writing.fail(
          change.element,
          "\(change.column) of an object of \(change.row.form.shape.name) that is there already leads elsewhere"
        )
        throw TransferError(
          code: .conflict,
          message:
            "A record that is there already leads to another one. Nothing was written; change or delete it.",
          failures: writing.failures)
      }
    }
    for (list, table) in tables {
      for pair in table.all { try writing.rows.insert(pair, into: list) }
    }
  }

  /// The pairs of a new row, as ``RowContent`` has them.
  func pairs(of draft: GraphWriting.Draft) -> [[RowPair]] {
    draft.form.shape.ownedPairs.map { tables[$0.list]?.pairs(ofOwner: draft.number) ?? [] }
  }
}

// MARK: - Pairs

/// The new pairs of a join table, each once, with positions where the order isn't that of
/// insertion.
struct PairTable {
  /// The two rows.
  private struct Pair: Hashable {
    let owner: Int64
    let target: Int64
  }

  /// The pairs in the order of insertion.
  private var pairs: [Pair] = []
  /// The index of each pair in `pairs`.
  private var indices: [Pair: Int] = [:]
  /// The indices of each row's pairs, by the row on either side.
  private var byOwner: [Int64: [Int]] = [:]
  private var byTarget: [Int64: [Int]] = [:]
  /// Explicit positions by the index of the pair, for owners and targets whose order isn't that of
  /// insertion.
  private var ownerOrders: [Int: Int64] = [:]
  private var targetOrders: [Int: Int64] = [:]
  /// The order that elements state, by the row on either side.
  private var ownerLists: [Int64: [Int64]] = [:]
  private var targetLists: [Int64: [Int64]] = [:]

  /// Adds a pair, unless it exists.
  mutating func add(owner: Int64, target: Int64) {
    let pair = Pair(owner: owner, target: target)
    guard indices[pair] == nil else { return }
    indices[pair] = pairs.count
    byOwner[owner, default: []].append(pairs.count)
    byTarget[target, default: []].append(pairs.count)
    pairs.append(pair)
  }

  /// Records the order in which a row's relationship has its destinations.
  mutating func setOrder(_ destinations: [Int64], of row: Int64, isOwner: Bool) {
    if isOwner { ownerLists[row] = destinations } else { targetLists[row] = destinations }
  }

  /// The number of a row's pairs.
  func count(of row: Int64, isOwner: Bool) -> Int {
    (isOwner ? byOwner[row] : byTarget[row])?.count ?? 0
  }

  /// Assigns positions to the pairs of rows whose order isn't that of insertion.
  mutating func assignPositions() {
    for (owner, targets) in ownerLists {
      order(targets.compactMap { indices[Pair(owner: owner, target: $0)] }, &ownerOrders)
    }
    for (target, owners) in targetLists {
      order(owners.compactMap { indices[Pair(owner: $0, target: target)] }, &targetOrders)
    }
  }

  /// Assigns positions to one row's pairs, if needed. Most need none, and then take no space in the
  /// table.
  private func order(_ list: [Int], _ orders: inout [Int: Int64]) {
    // Pairs are inserted in this order, which readers take where no positions are stored.
    if zip(list, list.dropFirst()).allSatisfy({ $0 < $1 }) { return }
    for (position, index) in list.enumerated() { orders[index] = Int64(position) }
  }

  /// All pairs, in the order of insertion.
  var all: [RowPair] { pairs.indices.map(pair) }

  /// An owner's pairs, in the order of insertion.
  func pairs(ofOwner owner: Int64) -> [RowPair] { (byOwner[owner] ?? []).map(pair) }

  private func pair(_ index: Int) -> RowPair {
    RowPair(
      owner: pairs[index].owner, target: pairs[index].target, ownerOrder: ownerOrders[index],
      targetOrder: targetOrders[index])
  }
}
