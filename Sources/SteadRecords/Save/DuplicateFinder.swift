/// Finds the new objects of a save that have a unique key of an earlier new object, or of a changed one.
struct DuplicateFinder {
  typealias Model = any PersistentModel
  /// A new object, and the one that stands for it.
  typealias Pair = (duplicate: Model, original: Model)

  private let keys: UniqueKeys
  /// The object that has each key.
  private var holders: [UniqueKeys.Key: Model] = [:]
  private var held: [ObjectIdentifier: [UniqueKeys.Key]] = [:]

  init(_ keys: UniqueKeys) { self.keys = keys }

  /// The new objects that are merged into others, each with the object that stands for it, in the order of insertion.
  ///
  /// Invariant: each key is held by one object, with the values that it has after the merges so far: an object that
  /// gets the values of a later one gives up its keys for that one's.
  ///
  /// - Parameter new: In the order of their insertion.
  /// - Throws: `modelValidationFailure` for two objects of different classes of a hierarchy, neither of which can
  ///   stand for the other.
  mutating func pairs(
    new: [Model], changed: [Model], _ entity: (Model) -> EntityLayout
  ) throws -> [Pair] {
    var pairs: [Pair] = []
    // Changed objects first: a new object is merged into one of them, never the other way round.
    for model in changed {
      hold(try keys.keys(of: model, entity(model), isPlanned: true), by: model)
    }
    for model in new {
      let keys = try keys.keys(of: model, entity(model), isPlanned: true)
      let originals = keys.compactMap { holders[$0] }
      // One object cannot be two rows; the save names both.
      guard let original = originals.first, originals.allSatisfy({ $0 === original }) else {
        if originals.isEmpty { hold(keys, by: model) }
        continue
      }
      if entity(original) !== entity(model), let key = keys.first(where: { holders[$0] != nil }) {
        throw UniqueKeys.otherClass(
          entity(model), key, holds: "\(entity(original).name) of this save")
      }
      pairs.append((model, original))
      // It gets the values of the later object.
      for key in held[ObjectIdentifier(original)] ?? [] { holders[key] = nil }
      held[ObjectIdentifier(original)] = nil
      hold(keys, by: original)
    }
    return pairs
  }

  private mutating func hold(_ keys: [UniqueKeys.Key], by model: Model) {
    for key in keys { holders[key] = model }
    held[ObjectIdentifier(model)] = keys
  }
}

// MARK: - Shared rows

/// New objects that a save would write into one row.
struct RowSharing {
  /// The row's hierarchy.
  let root: Int
  let number: Int64
  /// Whether the row existed before the save.
  var isStored: Bool
  /// The objects, with their places in the order of insertion.
  var objects: [(place: Int, model: any PersistentModel)]
}

extension SaveResult {
  /// The rows of a store that were assigned to several objects, or to a new one and a changed one.
  ///
  /// Rows are in the order of the first object that was assigned each, so that merging does not depend on hash
  /// values.
  ///
  /// Invariant: an object is in one result at most, since it was assigned one row. Nothing is changed here.
  ///
  /// - Parameter includingStored: Whether a row that existed counts as shared with a single new object.
  func sharedRows(in store: Int, includingStored: Bool) -> [RowSharing] {
    struct Row: Hashable {
      let root: Int
      let number: Int64

      init(_ state: State, _ layout: SaveLayout) {
        root = layout.entities[Int(state.pointee.entity)].layout.rootIndex
        number = state.pointee.rowID
      }
    }
    // Rows of changed objects, which a new object with their unique values would overwrite.
    let changed = Set(plan.states.updated.map { Row($0, layout) })
    var order: [Row] = []
    var rows: [Row: RowSharing] = [:]
    for (place, state) in plan.states.inserted.enumerated() where isIn(store, state) {
      let row = Row(state, layout)
      let model = plan.inserted[place]
      if rows[row] == nil {
        order.append(row)
        rows[row] = RowSharing(
          root: row.root, number: row.number, isStored: true, objects: [])
      }
      // The object that would insert the row is no upsert. It need not be the first.
      if !upserted.contains(ObjectIdentifier(model)) { rows[row]?.isStored = false }
      rows[row]?.objects.append((place, model))
    }
    return order.compactMap { rows[$0] }.filter { row in
      row.objects.count > 1
        || (row.isStored
          && (includingStored
            || row.objects.first.map { changed.contains(Row($0.model._$statePointer, layout)) }
              == true))
    }
  }
}
