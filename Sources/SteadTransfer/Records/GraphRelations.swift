import SteadRecords
import SteadSQLite

/// What leads from row to row, each fact once, whichever side tells of it.
final class GraphRelations {
  /// A row of the destination.
  struct Row {
    let number: Int64
    let form: RowForm
    /// Its place among the rows that are written now; nil for one that is there.
    let draft: Int?
    /// Whether it is there instead of a row that is not written, and stays as it is.
    var isKept = false
  }

  /// A column of a row that was there, to be set.
  private struct Change {
    let row: Row
    let column: String
    let value: SQLValue
    /// The row that tells of it.
    let element: Int
    /// Whether the row may lead elsewhere, and goes on to do so.
    let isOptional: Bool
  }

  /// A column that says in which of several relationships a row is.
  private struct ListCell: Hashable {
    let root: String
    let number: Int64
    let column: String
  }

  private unowned let writing: GraphWriting
  private var assignedLists: Set<ListCell> = []
  private var changes: [Change] = []
  private var tables: [PairList: PairTable] = [:]

  init(_ writing: GraphWriting) { self.writing = writing }

  /// Adds what one row contains.
  func add(_ element: StoredRow, _ number: Int) throws {
    let draft = writing.drafts[number]
    let owner = Row(number: draft.number, form: draft.form, draft: number)
    // In the order of the declarations, since that of a dictionary is another each time.
    for relationship in draft.form.shape.relationships {
      guard
        let keys = element.relationships[relationship.name]
          ?? element.relationships[relationship.originalName]
      else { continue }
      let targets = try self.targets(keys, of: relationship, number)
      let list = element.lists[relationship.name] ?? element.lists[relationship.originalName]
      add(targets, to: relationship, list, of: owner, number)
    }
  }

  private func targets(
    _ keys: [StoredRow.Key], of relationship: RowShape.Relationship, _ number: Int
  ) throws -> [Row] {
    var targets: [Row] = []
    var seen: Set<StoredRow.Key> = []
    var rows: Set<StoredRow.Key> = []
    for key in keys where seen.insert(key).inserted {
      guard let target = try writing.row(for: key) else {
        if !writing.options.dropsMissingDestinations {
          writing.fail(number, "\(relationship.name) leads to \(key), which is not moved")
        }
        continue
      }
      guard target.form.shape.lineage.contains(relationship.destination) else {
        writing.fail(
          number, "\(relationship.name) leads to \(key), which is no \(relationship.destination)")
        continue
      }
      // Several rows of the source may have become one.
      if rows.insert(.init(root: target.form.shape.root, number: target.number)).inserted {
        targets.append(target)
      }
    }
    if !relationship.isToMany, targets.count > 1 {
      writing.fail(number, "\(relationship.name) refers to several rows")
    }
    return targets
  }

  private func add(
    _ targets: [Row], to relationship: RowShape.Relationship, _ list: String?, of owner: Row,
    _ number: Int
  ) {
    switch relationship.storage {
    case .column:
      guard let target = targets.first else { return }
      set(relationship.name, of: owner, to: target.number, number)
      setList(list, relationship, of: owner, number)
      if let inverse = inverse(of: relationship, list, target), !inverse.isToMany {
        set(inverse.name, of: target, to: owner.number, number)
        setList(relationship.list, inverse.name, of: target, number)
      }
    case .inverse:
      guard let name = relationship.inverse else { return }
      for target in targets {
        set(name, of: target, to: owner.number, number, isOptional: target.isKept)
        if !target.isKept { setList(relationship.list, name, of: target, number) }
      }
      setOrder(of: targets, name, number)
    case .pairs(let list, let isOwner):
      let isSymmetric =
        relationship.inverse == relationship.name
        && owner.form.shape.lineage.contains(relationship.destination)
      for target in targets {
        let (owner, other) = (owner.number, target.number)
        tables[list, default: .init()].add(
          owner: isOwner ? owner : other, target: isOwner ? other : owner)
        if isSymmetric { tables[list]?.add(owner: other, target: owner) }
      }
      tables[list, default: .init()].setOrder(
        targets.map(\.number), of: owner.number, isOwner: isOwner)
    }
  }

  /// The relationship that leads back; where several do, the one that is named, else none: its own row
  /// tells of it.
  private func inverse(
    of relationship: RowShape.Relationship, _ list: String?, _ target: Row
  ) -> RowShape.Relationship? {
    let name = relationship.lists.isEmpty ? relationship.inverse : list
    return name.flatMap { target.form.relationships[$0] }
  }

  /// Notes which of several relationships of its destination leads back to a row.
  private func setList(
    _ name: String?, _ toOne: RowShape.Relationship, of row: Row, _ element: Int
  ) {
    guard let name else { return }
    let list = toOne.lists.first { $0.name == name || $0.originalName == name }
    setList(list?.number, toOne.name, of: row, element)
  }

  /// Notes it by its number. The first one counts: sources whose relationships all have the
  /// rows of one column name a row in each.
  private func setList(_ list: Int?, _ toOne: String, of row: Row, _ element: Int) {
    guard let list, case .column(_, let column?)? = row.form.relationships[toOne]?.storage
    else { return }
    let cell = ListCell(root: row.form.shape.root, number: row.number, column: column)
    if assignedLists.insert(cell).inserted, list > 0 {
      set(column, of: row, to: Int64(list), element)
    }
  }

  private func set(
    _ column: String, of row: Row, to number: Int64, _ element: Int, isOptional: Bool = false
  ) {
    let value = SQLValue.integer(number)
    guard let draft = row.draft else {
      changes.append(
        Change(row: row, column: column, value: value, element: element, isOptional: isOptional))
      return
    }
    guard let index = row.form.columnIndices[column] else { return }
    let current = writing.drafts[draft].cells[index]
    guard current == .null || current == value else {
      writing.fail(
        element, "the two sides of \(column) of \(row.form.shape.name) contradict each other")
      return
    }
    writing.drafts[draft].cells[index] = value
  }

  /// Rows are in the order of their numbers unless they have places.
  private func setOrder(of targets: [Row], _ toOne: String, _ element: Int) {
    guard !zip(targets, targets.dropFirst()).allSatisfy({ $0.number < $1.number }) else { return }
    for (position, target) in targets.enumerated() {
      let storage = target.form.relationships[toOne]?.storage
      guard case .column(let order?, _)? = storage else { continue }
      set(order, of: target, to: Int64(position), element, isOptional: target.isKept)
    }
  }

  /// Checks that every row has as many destinations as it must.
  func checkCounts() {
    for list in tables.keys { tables[list]?.assignPositions() }
    var counts: [InverseEnd: Int] = [:]
    let limited = Set(
      writing.drafts.flatMap { $0.form.shape.relationships }.filter {
        $0.isToMany && ($0.minimum > 0 || $0.maximum > 0)
      }.map(\.name))
    if !limited.isEmpty { counts = countInverses() }
    for (number, draft) in writing.drafts.enumerated() {
      for relationship in draft.form.shape.relationships {
        guard relationship.minimum > 0 || (relationship.isToMany && relationship.maximum > 0)
        else { continue }
        let count = self.count(of: relationship, draft, counts)
        guard count >= relationship.minimum,
          relationship.maximum == 0 || count <= relationship.maximum
        else {
          writing.fail(
            number, "\(relationship.name) has too few or too many destinations for its model")
          continue
        }
      }
    }
  }

  /// A row as the end of a relationship that other rows' columns hold.
  private struct InverseEnd: Hashable {
    let root: String
    let column: String
    let list: Int?
    let number: SQLValue
  }

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

  /// How many rows refer to each row by each column.
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

  private func list(
    of relationship: RowShape.Relationship, _ draft: GraphWriting.Draft
  ) -> Int? {
    guard case .column(_, let column?) = relationship.storage else { return nil }
    if let index = draft.form.columnIndices[column], case .integer(let list) = draft.cells[index] {
      return Int(list)
    }
    return 0
  }

  // MARK: - Writing

  /// Writes what does not lie in the rows' own columns.
  func write() throws {
    for change in changes {
      let isSet = try writing.rows.set(
        change.column, of: change.row.number, in: change.row.form.shape, to: change.value,
        from: [.null, change.value])
      guard isSet || change.isOptional else {
        writing.fail(
          change.element,
          "\(change.column) of a \(change.row.form.shape.name) that is there already leads elsewhere"
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

  /// The pairs that belong to a new row, as ``RowContent`` has them.
  func pairs(of draft: GraphWriting.Draft) -> [[RowPair]] {
    draft.form.shape.ownedPairs.map { tables[$0.list]?.pairs(ofOwner: draft.number) ?? [] }
  }
}

// MARK: - Pairs

/// The new pairs of a list, each once.
struct PairTable {
  private struct Pair: Hashable {
    let owner: Int64
    let target: Int64
  }

  /// The pairs in the order in which they are inserted.
  private var pairs: [Pair] = []
  private var indices: [Pair: Int] = [:]
  private var byOwner: [Int64: [Int]] = [:]
  private var byTarget: [Int64: [Int]] = [:]
  /// The places that pairs need, where the order of insertion is not theirs.
  private var ownerOrders: [Int: Int64] = [:]
  private var targetOrders: [Int: Int64] = [:]
  /// The orders that rows contain.
  private var ownerLists: [Int64: [Int64]] = [:]
  private var targetLists: [Int64: [Int64]] = [:]

  mutating func add(owner: Int64, target: Int64) {
    let pair = Pair(owner: owner, target: target)
    guard indices[pair] == nil else { return }
    indices[pair] = pairs.count
    byOwner[owner, default: []].append(pairs.count)
    byTarget[target, default: []].append(pairs.count)
    pairs.append(pair)
  }

  /// Notes the order in which a row's relationship has its destinations.
  mutating func setOrder(_ destinations: [Int64], of row: Int64, isOwner: Bool) {
    if isOwner { ownerLists[row] = destinations } else { targetLists[row] = destinations }
  }

  func count(of row: Int64, isOwner: Bool) -> Int {
    (isOwner ? byOwner[row] : byTarget[row])?.count ?? 0
  }

  /// Gives places to the pairs of the rows that the order of insertion does not suit.
  mutating func assignPositions() {
    for (owner, targets) in ownerLists {
      order(targets.compactMap { indices[Pair(owner: owner, target: $0)] }, &ownerOrders)
    }
    for (target, owners) in targetLists {
      order(owners.compactMap { indices[Pair(owner: $0, target: target)] }, &targetOrders)
    }
  }

  private func order(_ list: [Int], _ orders: inout [Int: Int64]) {
    if zip(list, list.dropFirst()).allSatisfy({ $0 < $1 }) { return }
    for (position, index) in list.enumerated() { orders[index] = Int64(position) }
  }

  /// All pairs, in the order in which they are inserted.
  var all: [RowPair] { pairs.indices.map(pair) }

  /// An owner's pairs, in the order in which they are inserted.
  func pairs(ofOwner owner: Int64) -> [RowPair] { (byOwner[owner] ?? []).map(pair) }

  private func pair(_ index: Int) -> RowPair {
    RowPair(
      owner: pairs[index].owner, target: pairs[index].target, ownerOrder: ownerOrders[index],
      targetOrder: targetOrders[index])
  }
}
