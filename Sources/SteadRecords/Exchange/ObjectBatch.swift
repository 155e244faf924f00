/// New objects that are saved to one store together, with other work in the same transaction.
///
/// ```swift
/// let batch = try ObjectBatch(trips, in: rows)
/// try batch.save(.replace) { transaction, shared in
///   try transaction.save(receipt)  // in the transaction of the objects
/// }
/// ```
package struct ObjectBatch {
  /// Why objects were not saved.
  package enum Refusal: Error {
    /// Objects, by their indices, belong to a context; or one object is in the batch twice.
    case notNew([Int])
    /// Objects are of several stores or of unknown models, or lead to objects of other contexts.
    case elsewhere
    /// Other rows have the unique values of objects.
    case taken([Taken])
  }

  /// An object with unique values that another row has.
  package struct Taken {
    /// The object's index in the batch.
    package let index: Int
    /// The index of the batch's object that the row is written for; nil for an existing row, and if the values are
    /// those of an object that came along.
    package let holder: Int?
    /// The row that has the values; nil if they are those of an object that came along.
    package let row: (entity: String, number: Int64)?
  }

  /// What happens to new objects whose unique values other rows, or earlier objects of the batch, have.
  package enum Rule {
    /// Nothing is saved.
    case refuse
    /// Nothing is saved if it happens to one of the batch's own objects. An object that came along stands for the existing
    /// row, whose attributes stay as they are.
    case keep
    /// The row gets the object's values; with several objects, the last one's.
    case replace
  }

  /// Each object, followed by the objects that came along with it through its relationships.
  package let groups: [[any PersistentModel]]
  /// The store that the objects are saved to.
  private let rows: StoreRows
  /// A context of its own, so that no pending change of the program is saved along.
  private let context: ModelContext
  /// The objects, as the caller passed them.
  private let objects: [any PersistentModel]

  /// Gathers the objects, and all that their relationships reach, in a separate context.
  ///
  /// - Throws: ``Refusal``.
  package init(_ objects: [any PersistentModel], in rows: StoreRows) throws {
    self.rows = rows
    self.objects = objects
    context = ModelContext(rows.container)
    context.observesModels = false
    groups = try Self.insert(objects, into: context, rows)
  }

  /// Inserts the objects in their order, and returns each with those that came along.
  ///
  /// What an insertion has brought along is what the list of new objects has got since. A change of an object that is
  /// not new would be saved, too: it is refused, as are links to other contexts and stores.
  private static func insert(
    _ objects: [any PersistentModel], into context: ModelContext, _ rows: StoreRows
  ) throws -> [[any PersistentModel]] {
    let identities = Set(objects.map { ObjectIdentifier($0) })
    let taken = objects.indices.filter { objects[$0].modelContext != nil }
    guard taken.isEmpty, identities.count == objects.count else { throw Refusal.notNew(taken) }
    var starts: [Int] = []
    starts.reserveCapacity(objects.count)
    // Counted before each insertion, which brings along what the object's relationships reach.
    for object in objects {
      starts.append(context.insertionCount)
      context.insertAny(object)
    }
    let all = context.insertedModelsArray
    // Relationships may have reached objects of another context or store, and changed them.
    guard context.changedModelsArray.isEmpty,
      objects.allSatisfy({ $0.modelContext === context }),
      all.allSatisfy({ rows.place(of: $0) != nil && !context.leadsElsewhere($0) })
    else { throw Refusal.elsewhere }
    return objects.indices.map { index in
      let end = index + 1 < starts.count ? starts[index + 1] : all.count
      let others = all[starts[index]..<end].filter { !identities.contains(ObjectIdentifier($0)) }
      return [objects[index]] + others
    }
  }

  /// Saves the objects; the transaction survives a power loss once this returns.
  ///
  /// - Parameters:
  ///   - rule: What happens to objects whose unique values other rows have.
  ///   - note: Called with the transaction once the objects' rows are written, and with the rows that stand for several
  ///     objects, or for an object and an earlier row. If it throws, nothing is saved.
  /// - Throws: ``Refusal`` `.taken`.
  package func save(
    _ rule: Rule = .refuse, noting note: (RowTransaction, _ shared: SharedRows) throws -> Void
  ) throws {
    // A context without changes begins no transaction, and `note` needs one.
    if objects.isEmpty { return try rows.write { try note($0, SharedRows()) } }
    try context.save(in: rows, keepsUniqueRows: rule == .keep) { transaction, sharing in
      var shared = SharedRows()
      if !sharing.isEmpty {
        let taken = self.taken(sharing, rule)
        guard taken.isEmpty else { throw Refusal.taken(taken) }
        for group in groups {
          for model in group where sharing.contains(ObjectIdentifier(model)) {
            shared.insert(model, cameAlong: model !== group[0], rows)
          }
        }
      }
      try note(transaction, shared)
    }
  }

  /// The objects that a rule refuses, by their index.
  private func taken(_ sharing: Set<ObjectIdentifier>, _ rule: Rule) -> [Taken] {
    if rule == .replace { return [] }
    // The first of several objects with the same values holds the row; later ones share it.
    var holders: [SharedRows.Row: Int] = [:]
    var taken: [Taken] = []
    for (index, group) in groups.enumerated() {
      guard let place = rows.place(of: group[0]), let row = SharedRows.Row(group[0], rows) else {
        continue
      }
      if sharing.contains(ObjectIdentifier(group[0])) {
        taken.append(Taken(index: index, holder: holders[row], row: place))
      } else {
        holders[row] = index
        // With `keep`, an object that came along may stand for an existing row.
        if rule == .refuse, group.contains(where: { sharing.contains(ObjectIdentifier($0)) }) {
          taken.append(Taken(index: index, holder: nil, row: nil))
        }
      }
    }
    return taken
  }
}

extension RowTransaction {
  /// The row of a saved object; nil if it differs from the object, in a column or in the targets of a relationship.
  package func content(of model: any PersistentModel) throws -> RowContent? {
    guard let place = rows.place(of: model), let shape = rows.shapes[place.entity],
      let content = try content(of: shape, place.number)
    else { return nil }
    let bound = try boundValues(of: model, shape)
    // nil is a column that no property has.
    guard zip(bound, content.values).allSatisfy({ $0 == nil || $0 == $1 }) else { return nil }
    for (relationship, pairs) in zip(shape.ownedPairs, content.pairs) {
      let wanted = targets(of: model, relationship.name, shape)
      // As sets, since the order is not compared.
      guard wanted.count == pairs.count, Set(wanted) == Set(pairs.map(\.target)) else { return nil }
    }
    return content
  }

  /// The row of a saved object that shares it with other objects, whose values it may have.
  package func sharedContent(of model: any PersistentModel) throws -> RowContent? {
    guard let place = rows.place(of: model), let shape = rows.shapes[place.entity] else {
      return nil
    }
    return try content(of: shape, place.number)
  }

  /// The rows that a saved object's relationship leads to.
  private func targets(
    of model: any PersistentModel, _ name: String, _ shape: RowShape
  ) -> [Int64] {
    let entity = rows.container.layout.entities[shape.index]
    guard let property = entity.property(named: name) else { return [] }
    switch model.content(at: property.index) {
    case .toMany(let targets):
      // Of a list that was not read, a new object has the additions alone.
      return (targets.loaded ?? targets.delta?.additions ?? []).compactMap {
        ($0 as? any PersistentModel)?._$statePointer.pointee.rowID
      }
    case .toOne(.model(let target)): return [target._$statePointer.pointee.rowID]
    case .toOne(.row(let row)): return [row]
    default: return []
    }
  }
}

// MARK: - Shared rows

/// Rows that new objects share: rows that existed before, or rows of several objects with the same unique values.
package struct SharedRows {
  /// A row by the hierarchy that numbers it.
  package struct Row: Hashable, Sendable {
    /// The table of the hierarchy.
    package let root: String
    /// The row's number in it.
    package let number: Int64

    package init(root: String, number: Int64) {
      self.root = root
      self.number = number
    }

    /// The row of a saved object; nil if the store does not have its entity.
    init?(_ model: any PersistentModel, _ rows: StoreRows) {
      guard let place = rows.place(of: model), let shape = rows.shapes[place.entity] else {
        return nil
      }
      self.init(root: shape.root, number: place.number)
    }
  }

  /// The rows, whatever number of objects share each.
  package private(set) var all: Set<Row> = []
  /// How many objects stand for such a row, without those that came along.
  package private(set) var objectCount = 0

  mutating func insert(_ model: any PersistentModel, cameAlong: Bool, _ rows: StoreRows) {
    guard let row = Row(model, rows) else { return }
    all.insert(row)
    if !cameAlong { objectCount += 1 }
  }

  /// Whether an object stands for such a row.
  package func contains(_ model: any PersistentModel, in rows: StoreRows) -> Bool {
    Row(model, rows).map(all.contains) ?? false
  }
}

// MARK: - Saving

extension ModelContext {
  /// Saves, with more work in the same transaction, which survives a loss of power when this returns.
  ///
  /// All changes must be of the store of `rows`. If `note` throws, nothing is saved.
  ///
  /// - Parameters:
  ///   - keepsUniqueRows: Whether the attributes of a row that has the unique values of a new object stay as they
  ///     are. Otherwise the object overwrites them.
  ///   - note: Called with the transaction once the objects' rows are written, and with the new objects that stand for
  ///     another object's row, since it has their unique values, or for an earlier new object that has them.
  func save(
    in rows: StoreRows, keepsUniqueRows: Bool,
    noting note: (RowTransaction, _ sharing: Set<ObjectIdentifier>) throws -> Void
  ) throws {
    let graph = linkedGraph()
    graph.merger.keepsUniqueRows = keepsUniqueRows
    // The merger is the context's, so the setting must not outlive this save.
    defer { graph.merger.keepsUniqueRows = false }
    try withoutActuallyEscaping(note) { note in
      try graph.saver.save { store, connection, result in
        graph.merger.placeMerged()
        let merged = graph.merger.merged.map { ObjectIdentifier($0.duplicate) }
        try note(RowTransaction(rows, store, connection), result.upserted.union(merged))
      }
    }
  }

  /// How many objects were inserted so far, including those that came along through relationships.
  var insertionCount: Int { linkedGraph().pending.insertionCount }

  /// Whether a new object refers to objects of other contexts, whose numbers a save would take for this store's.
  func leadsElsewhere(_ model: any PersistentModel) -> Bool {
    linkedGraph().entity(of: model).relationships.contains { index in
      switch model.content(at: index) {
      case .toOne(.model(let target)): target._$statePointer.pointee.graph !== linkedGraph()
      case .toMany(let targets):
        (targets.loaded ?? []).contains {
          ($0 as? any PersistentModel)?._$statePointer.pointee.graph !== linkedGraph()
        }
      default: false
      }
    }
  }

  /// Adds an object of any class, and all that its relationships reach, with the next save.
  func insertAny(_ model: any PersistentModel) { linkedGraph().editor.insert(model) }
}
