import Foundation

extension ObjectGraph {
  // MARK: To-one

  /// The destination with this row; the other owners of the same fetch get theirs with it.
  func resolve(_ row: Int64, _ owner: any PersistentModel, _ index: Int) -> AnyObject? {
    let entity = entity(of: owner)
    guard let destination = entity.properties[index].destination else { return nil }
    let target = layout.entities[destination]
    if let object = registry.object(root: target.rootIndex, row: row) { return object }
    do {
      if let found = try resolveTogether(row, owner, entity, index, target) { return found }
      return try object(target, row: row)
    } catch {
      Report.problem("\(entity.name).\(entity.properties[index].name) cannot be loaded: \(error)")
      return nil
    }
  }

  private func resolveTogether(
    _ row: Int64, _ owner: any PersistentModel, _ entity: EntityLayout, _ index: Int,
    _ target: EntityLayout
  ) throws -> AnyObject? {
    let ownerRow = owner._$statePointer.pointee.rowID
    guard let companions = companions(entity.rootIndex, ownerRow), companions.count > 1 else {
      return nil
    }
    var wanted: [Int64: [any PersistentModel]] = [:]
    for companion in companions {
      guard let model = registered(entity, row: companion),
        self.entity(of: model) === entity,
        case .toOne(.row(let other)) = model.content(at: index)
      else { continue }
      wanted[other, default: []].append(model)
    }
    guard wanted.count > 1 else { return nil }
    let objects = try load(target, rows: Array(wanted.keys))
    for object in objects {
      for model in wanted[object._$statePointer.pointee.rowID] ?? [] where model !== owner {
        model.setContent(.toOne(.model(object)), at: index)
      }
    }
    return objects.first { $0._$statePointer.pointee.rowID == row }
  }

  private func companions(_ root: Int, _ row: Int64) -> ArraySlice<Int64>? {
    for batch in batches.reversed() where batch.root == root {
      if let companions = batch.companions(of: row) { return companions }
    }
    return nil
  }

  /// The objects of some rows, in the order of the rows in the table.
  func load(_ entity: EntityLayout, rows: [Int64]) throws -> [any PersistentModel] {
    let plan = plans[entity.index]
    return try stores[entity.index].read { connection in
      let statement = try connection.statement(
        "SELECT \(plan.columnList) FROM \(plan.table) AS t0 "
          + "WHERE t0.\"_id\" IN (SELECT value FROM json_each(?1))")
      statement.reset()
      defer { statement.reset() }
      statement.bind(.text(rows.map { Int($0) }.jsonText), at: 1)
      var result: [any PersistentModel] = []
      result.reserveCapacity(rows.count)
      while try statement.step() {
        if let model = try makeObject(plan, statement) { result.append(model) }
      }
      return result
    }
  }

  // MARK: To-many

  /// The destinations of a to-many relationship; the other owners of the same fetch get theirs
  /// with the same query.
  func loadToMany(_ owner: any PersistentModel, _ index: Int) -> [AnyObject] {
    let entity = entity(of: owner)
    let property = entity.properties[index]
    guard case .toMany(let targets) = owner.content(at: index) else { return [] }
    if let loaded = targets.loaded { return loaded }
    var owners = [owner]
    let row = owner._$statePointer.pointee.rowID
    guard row > 0 else { return [] }
    for companion in companions(entity.rootIndex, row) ?? [] where companion != row {
      guard let model = registered(entity, row: companion), self.entity(of: model) === entity,
        case .toMany(let others) = model.content(at: index), others.loaded == nil,
        others.delta == nil
      else { continue }
      owners.append(model)
    }
    do {
      let groups = try loadGroups(owners.map { $0._$statePointer.pointee.rowID }, property)
      for owner in owners {
        let loaded = groups[owner._$statePointer.pointee.rowID] ?? []
        let current = withPending(loaded, owner, property)
        owner.setContent(.toMany(_Targets(loaded: current)), at: index)
      }
    } catch {
      Report.problem("\(entity.name).\(property.name) cannot be loaded: \(error)")
      return []
    }
    if case .toMany(let targets) = owner.content(at: index) { return targets.loaded ?? [] }
    return []
  }

  /// What a to-many relationship held before it was replaced without having been loaded.
  func loadBase(
    _ owner: any PersistentModel, _ property: PropertyLayout, _ delta: ToManyDelta?
  ) -> [AnyObject] {
    let row = owner._$statePointer.pointee.rowID
    guard row > 0 else { return [] }
    do {
      let loaded = try loadGroups([row], property)[row] ?? []
      return delta?.applied(to: loaded) ?? withPending(loaded, owner, property)
    } catch {
      Report.problem("A relationship of \(owner.persistentModelID) cannot be loaded: \(error)")
      return []
    }
  }

  private func loadGroups(
    _ rows: [Int64], _ property: PropertyLayout
  ) throws -> [Int64: [AnyObject]] {
    guard case .toMany(let storage, let destination) = property.kind else { return [:] }
    let query = toManyQuery(storage, plans[destination], isSingle: rows.count == 1)
    let plan = plans[destination]
    return try stores[destination].read(fresh: rows.count > 1) { connection in
      let statement = try connection.statement(query)
      statement.reset()
      defer { statement.reset() }
      statement.bind(
        rows.count == 1 ? .integer(rows[0]) : .text(rows.map { Int($0) }.jsonText), at: 1)
      var ownerColumn = Int32(plan.prefix + plan.tableLayout.columns.count)
      var orderColumn = ownerColumn + 1
      if case .inverse(let toOne) = storage {
        orderColumn = ownerColumn
        ownerColumn = plan.columns[toOne]
      }
      var reader = GroupReader()
      while try statement.step() {
        guard let model = try makeObject(plan, statement) else { continue }
        reader.add(
          model, owner: statement.integer(ownerColumn),
          order: statement.isNull(orderColumn) ? nil : statement.integer(orderColumn))
      }
      return reader.finish()
    }
  }

  private func toManyQuery(
    _ storage: ToManyStorage, _ plan: EntityPlan, isSingle: Bool
  ) -> String {
    let test = isSingle ? "= ?1" : "IN (SELECT value FROM json_each(?1))"
    switch storage {
    case .inverse(let toOne):
      let column = plan.entity.properties[toOne].column ?? ""
      let key = "t0.\(quoted(column))"
      let order = "t0.\(quoted(TableLayout.orderColumn(of: column)))"
      return "SELECT \(plan.columnList), \(order) FROM \(plan.table) AS t0 "
        + "WHERE \(key) \(test) ORDER BY \(key), t0.\"_id\""
    case .join(let table, let owner, let target):
      return "SELECT \(plan.columnList), j.\(owner), j.\(owner)_order "
        + "FROM \(quoted(table)) AS j JOIN \(plan.table) AS t0 ON t0.\"_id\" = j.\(target) "
        + "WHERE j.\(owner) \(test) ORDER BY j.\(owner), j.\"_id\""
    }
  }

  /// A relationship as its rows have it, with the pending changes of this context.
  private func withPending(
    _ loaded: [AnyObject], _ owner: any PersistentModel, _ property: PropertyLayout
  ) -> [AnyObject] {
    var result = loaded
    if case .toMany(let targets) = owner.content(at: property.index), let delta = targets.delta {
      result = delta.applied(to: result)
    }
    guard !(inserted.isEmpty && changed.isEmpty && deleted.isEmpty) else { return result }
    if case .toMany(.inverse(let toOne), let destination) = property.kind {
      result.removeAll { object in
        guard let model = object as? any PersistentModel, model.has(_ModelFlags.changed)
        else { return false }
        return !refers(model, toOne, to: owner)
      }
      let known = Set(result.map(ObjectIdentifier.init))
      let root = layout.entities[destination].rootIndex
      for model in changed + inserted
      where entity(of: model).rootIndex == root
        && model.has(_ModelFlags.inserted | _ModelFlags.changed)
        && refers(model, toOne, to: owner) && !known.contains(ObjectIdentifier(model))
      {
        result.append(model)
      }
    }
    return result.filter { ($0 as? any PersistentModel)?.has(_ModelFlags.deleted) != true }
  }

  private func refers(
    _ model: any PersistentModel, _ index: Int, to owner: any PersistentModel
  ) -> Bool {
    switch model.content(at: index) {
    case .toOne(.model(let target)): target === owner
    case .toOne(.row(let row)): row == owner._$statePointer.pointee.rowID
    default: false
    }
  }
}

/// Collects rows of several owners, which come one owner after the other.
private struct GroupReader {
  private var groups: [Int64: [AnyObject]] = [:]
  private var current: [AnyObject] = []
  /// Empty until one of the owner's rows has a place.
  private var orders: [Int64?] = []
  private var owner: Int64 = 0

  mutating func add(_ model: AnyObject, owner: Int64, order: Int64?) {
    if owner != self.owner {
      close()
      self.owner = owner
    }
    if order != nil, orders.isEmpty { orders = Array(repeating: nil, count: current.count) }
    current.append(model)
    if order != nil || !orders.isEmpty { orders.append(order) }
  }

  private mutating func close() {
    guard !current.isEmpty else { return }
    if !orders.isEmpty {
      let places = current.indices.sorted {
        (orders[$0] ?? .max, $0) < (orders[$1] ?? .max, $1)
      }
      groups[owner] = places.map { current[$0] }
    } else {
      groups[owner] = current
    }
    let size = current.count
    current = []
    current.reserveCapacity(size)
    orders = []
  }

  mutating func finish() -> [Int64: [AnyObject]] {
    close()
    return groups
  }
}
