import Foundation

/// Reads rows and relationships for a context: objects by their rows, destinations and lists at their first use, each with
/// those of the objects that were fetched with it.
final class RelationshipReader {
  // Unowned without a check: the engine owns this part, and nothing else keeps it.
  unowned(unsafe) let graph: ObjectGraph
  /// The lists that lack a member, since its row can't be read.
  var incompleteLists = IncompleteLists()

  /// The temporary numbers that a save's new objects have in their context, by the rows that it has written for them
  /// so far; nil except in an engine that reads these rows for a custom store (`CustomSave`).
  var temporaryRows: [Int64: Int64]?

  init(_ graph: ObjectGraph) { self.graph = graph }

  /// Runs a body with a connection that has at least the commits that this context has applied.
  ///
  /// The snapshot is shared with other look-ups for a short time (``ReaderPool/snapshotLifetime``), so that reading
  /// many objects one by one does not begin a transaction for each. While commits are applied, it is the connection
  /// that applies them.
  func lookUp<Result>(
    in index: Int, _ body: (StoreConnection) throws -> Result
  ) throws -> Result {
    if let connection = graph.commits.connection(applyingTo: index) { return try body(connection) }
    return try graph.stores[index].read(.shared(atLeast: graph.commits.inbox.number(of: index))) {
      connection, number in
      // The first objects are of this commit: all later ones are news for them.
      graph.commits.inbox.didRead(number, of: index)
      return try body(connection)
    }
  }

  // MARK: Objects

  /// The object of a row, loaded if it is not registered; nil if the row does not exist.
  ///
  /// A row that the shared snapshot lacks is asked for again in a new one, and of a custom store.
  func object(_ entity: EntityLayout, row: Int64) throws -> (any PersistentModel)? {
    if let model = graph.registered(entity, row: row) { return model }
    let plan = graph.entities[entity.index].lazyPlan.plan
    let index = graph.entities[entity.index].storeIndex
    if let model = try lookUp(in: index, { try graph.loader.load(plan, row, $0) }) { return model }
    // Not while a save reads what it has written: the store has the objects as they were before.
    if temporaryRows == nil, let store = graph.customStore(of: entity) {
      let identifier = PersistentIdentifier(reference: plan.reference, row: row)
      try store.take([identifier], for: graph.editingState)
    }
    // Another process may have written the row after the snapshot was taken.
    return try graph.stores[index].read(.newest) { connection, _ in
      try graph.loader.load(plan, row, connection)
    }
  }

  /// The objects of some rows, in the order of the rows in the table.
  ///
  /// Costs one statement, with the numbers as a JSON array: the number of parameters of a statement is limited.
  func load(
    _ entity: EntityLayout, rows: [Int64], skipsUnreadable: Bool = false
  ) throws -> [any PersistentModel] {
    let plan = graph.entities[entity.index].lazyPlan.plan
    return try lookUp(in: graph.entities[entity.index].storeIndex) { connection in
      let statement = try connection.statement(plan.selectionOfRows)
      statement.reset()
      defer { statement.reset() }
      statement.bind(.text(rows.map { Int($0) }.jsonText), at: 1)
      return try graph.loader.collectAny(statement, plan, skipsUnreadable: skipsUnreadable)
    }
  }

  /// Reads an object's row again; an object whose row is gone leaves the context and keeps its values.
  func reload(_ model: any PersistentModel) {
    let state = model._$statePointer
    // A new object has no row: what it has is all that there is.
    guard state.pointee.rowID > 0 else {
      state.pointee.clear(_ModelFlags.fault | _ModelFlags.stale | _ModelFlags.partial)
      return
    }
    let plan = graph.entities[Int(state.pointee.entity)].lazyPlan.plan
    do {
      let found = try lookUp(in: graph.entities[plan.entity.index].storeIndex) { connection in
        let statement = try connection.selection(of: plan)
        statement.bind(state.pointee.rowID, at: 1)
        defer { statement.rewind() }
        guard try statement.step() else { return false }
        graph.loader.refresh(model, from: statement)
        return true
      }
      if !found { depart(model) }
    } catch {
      Report.problem(
        .objectNotLoaded, subject: "\(model.persistentModelID)",
        message: "The object was not read and keeps its values. Fetch it again.", cause: error)
      // Otherwise each use of a property would read, fail and report again.
      state.pointee.clear(_ModelFlags.fault | _ModelFlags.stale | _ModelFlags.partial)
    }
  }

  /// Removes an object whose row is gone, with all its pending changes: a save could only write them to a row that
  /// does not exist.
  func depart(_ model: any PersistentModel) {
    guard graph.isHere(model) else { return }
    reportLostChanges(of: model)
    graph.pending.remove(model)
    graph.editor.membership = nil
    clearRelationships(of: model)
    graph.loader.release(model)
  }

  /// Reports changes of an object whose row is gone. The deletion prevails, as in SwiftData, so nothing else tells the
  /// program that they are not saved.
  func reportLostChanges(of model: any PersistentModel) {
    guard model.has(_ModelFlags.changed) else { return }
    let entity = graph.entity(of: model)
    // Of relationships, the engine itself may have changed this side.
    let names = entity.properties.filter {
      $0.relationship == nil && model._$statePointer.pointee.changes.contains($0.index)
    }.map(\.name)
    guard !names.isEmpty else { return }
    Report.problem(
      .changesLost, subject: "\(model.persistentModelID)",
      message:
        "Another context or program deleted the object, whose changes of \(names.joined(separator: ", ")) were not saved. "
        + "The object keeps its values; insert a new one with them to store them.")
  }

  /// Clears all relationships of an object that has no row any more, on its own side.
  func clearRelationships(of model: any PersistentModel) {
    guard graph.entities[Int(model._$statePointer.pointee.entity)].layout.hasRelationships else {
      return
    }
    for index in graph.entity(of: model).relationships {
      switch model.content(at: index) {
      case .attribute: break
      case .toOne: model.setContent(.toOne(.none), at: index)
      case .toMany: model.setContent(.toMany(_Targets(loaded: [])), at: index)
      }
    }
  }

  /// Reports that a relationship was not read. Reading a property cannot throw.
  private func reportUnloaded(_ entity: EntityLayout, _ index: Int, _ error: any Error) {
    Report.problem(
      .objectNotLoaded, subject: "\(entity.name).\(entity.properties[index].name)",
      message: "Destinations were not loaded. Read the property again.", cause: error)
  }

  // MARK: To-one

  /// The destination with this row; the other owners of the same fetch get theirs with it.
  func resolve(_ row: Int64, _ owner: any PersistentModel, _ index: Int) -> AnyObject? {
    let entity = graph.entity(of: owner)
    guard let destination = entity.properties[index].destination else { return nil }
    let target = graph.layout.entities[destination]
    if let object = graph.loader.registry.object(root: target.rootIndex, row: row) {
      let property = entity.properties[index]
      // Only a registered destination can have a change of this context that contradicts the row.
      if isLedElsewhere(target.model(object), owner, property) { return nil }
      return isLeft(object, target, behind: property) ? nil : object
    }
    do {
      if let found = try resolveTogether(row, owner, entity, index, target) { return found }
      return try object(target, row: row)
    } catch {
      reportUnloaded(entity, index, error)
      return nil
    }
  }

  /// Whether another context deleted an object with delete rules that left a reference to it behind.
  private func isLeft(
    _ object: AnyObject, _ entity: EntityLayout, behind property: PropertyLayout
  ) -> Bool {
    let model = entity.model(object)
    guard model.has(_ModelFlags.stale), graph.isHere(model),
      property.mayBeLeft(in: graph.layout.entities)
    else { return false }
    reload(model)
    return !graph.isHere(model)
  }

  /// Whether this context has set the other side of a one-to-one relationship to another object, and another context
  /// has set this side since.
  ///
  /// Until the save, which clears this side in the store, it reads as nothing, so that both sides agree.
  private func isLedElsewhere(
    _ target: any PersistentModel, _ owner: any PersistentModel, _ property: PropertyLayout
  ) -> Bool {
    guard graph.commits.hasNews, target.has(_ModelFlags.changed),
      let inverse = graph.inverse(of: property, list: owner.list(at: property.index)),
      !inverse.isToMany, inverse.list == nil
    else { return false }
    let state = owner._$statePointer
    if state.pointee.has(_ModelFlags.changed), state.pointee.changes.contains(property.index) {
      return false
    }
    return target._$statePointer.pointee.changes.contains(inverse.index)
      && !refers(target, inverse.index, to: owner, nil)
  }

  /// Loads the destinations of one to-one relationship for all owners that were fetched together, in one query; nil
  /// if there is only one, or if the row is not among those found.
  ///
  /// Without it, reading a relationship of each of n fetched objects costs n queries.
  private func resolveTogether(
    _ row: Int64, _ owner: any PersistentModel, _ entity: EntityLayout, _ index: Int,
    _ target: EntityLayout
  ) throws -> AnyObject? {
    let ownerRow = owner._$statePointer.pointee.rowID
    guard let companions = graph.loader.companions(entity.rootIndex, ownerRow), companions.count > 1
    else { return nil }
    var wanted: [Int64: [any PersistentModel]] = [:]
    for companion in companions {
      guard let model = graph.registered(entity, row: companion),
        graph.entity(of: model) === entity,
        case .toOne(.row(let other)) = model.content(at: index)
      else { continue }
      wanted[other, default: []].append(model)
    }
    // A single row is read by its number, with a statement that is prepared.
    guard wanted.count > 1 else { return nil }
    // One that cannot be read leaves the other owners theirs.
    let objects = try load(target, rows: Array(wanted.keys), skipsUnreadable: true)
    for object in objects {
      let row = object._$statePointer.pointee.rowID
      for model in wanted[row] ?? [] where model !== owner {
        // An owner that is also a destination was read again, and may lead elsewhere now.
        guard case .toOne(.row(row)) = model.content(at: index) else { continue }
        model.setContent(.toOne(.model(object)), at: index)
      }
    }
    return objects.first { $0._$statePointer.pointee.rowID == row }
  }

  // MARK: To-many

  /// The destinations of a to-many relationship, in its order; loaded when they are not.
  func members(of owner: any PersistentModel, at index: Int) -> [AnyObject] {
    guard case .toMany(let targets) = owner.content(at: index) else { return [] }
    return targets.loaded ?? loadToMany(owner, index)
  }

  /// The destinations of a relationship, loaded when they are not.
  func targets(of model: any PersistentModel, at index: Int) -> [any PersistentModel] {
    if case .toMany = model.content(at: index) {
      return members(of: model, at: index).compactMap { $0 as? any PersistentModel }
    }
    return destination(of: model, at: index).map { [$0] } ?? []
  }

  /// The members of a list, loaded with those of the other owners of the same fetch.
  ///
  /// Owners that are stale are left out: they read their row first, which forgets the list.
  func loadToMany(_ owner: any PersistentModel, _ index: Int) -> [AnyObject] {
    guard case .toMany(let targets) = owner.content(at: index) else { return [] }
    if let loaded = targets.loaded { return loaded }
    let entity = graph.entity(of: owner)
    let row = owner._$statePointer.pointee.rowID
    // A new owner has no rows: its members are what was added.
    guard row > 0 else { return targets.delta?.applied(to: []) ?? [] }
    // The other owners of the same fetch get theirs with the same query.
    var owners = [owner]
    for companion in graph.loader.companions(entity.rootIndex, row) ?? [] where companion != row {
      guard let model = graph.registered(entity, row: companion),
        graph.entity(of: model) === entity,
        !model.has(_ModelFlags.stale),
        case .toMany(let others) = model.content(at: index), others.loaded == nil
      else { continue }
      owners.append(model)
    }
    if let error = read(index, of: owners, entity) { reportUnloaded(entity, index, error) }
    if case .toMany(let targets) = owner.content(at: index) { return targets.loaded ?? [] }
    return []
  }

  /// Reads one list of each of some owners; what cannot be read is missing in its own list alone.
  ///
  /// Invariant: a list that lacks a member is in `incompleteLists`, so that no delete rule takes it for the whole.
  ///
  /// - Returns: Why something is missing in a list.
  private func read(
    _ index: Int, of owners: [any PersistentModel], _ entity: EntityLayout
  ) -> (any Error)? {
    let property = entity.properties[index]
    // One query for all owners. If it fails as a whole, nothing is cached, and the next use asks again.
    let groups: OwnedObjects.Groups
    do {
      groups = try loadGroups(owners.map { $0._$statePointer.pointee.rowID }, property)
    } catch {
      if let owner = owners.first {
        incompleteLists.note(owner, entity, property, isIncomplete: true)
      }
      return error
    }
    for owner in owners {
      guard case .toMany(let targets) = owner.content(at: index), targets.loaded == nil else {
        continue
      }
      let row = owner._$statePointer.pointee.rowID
      let current = derived(groups.objects[row] ?? [], owner, property, targets.delta)
      owner.updateTargets(at: index) { $0.loaded = current }
      incompleteLists.note(owner, entity, property, isIncomplete: groups.failures[row] != nil)
    }
    return owners.lazy.compactMap { groups.failures[$0._$statePointer.pointee.rowID] }.first
  }

  /// Throws if an object to which a deletion's rule applies cannot be read.
  ///
  /// Reads a list again that lacked something, so that the rule applies to all of it.
  func requireTargets(of model: any PersistentModel, _ property: PropertyLayout) throws {
    guard concerns(property.relationship?.deleteRule, property) else { return }
    let (index, entity) = (property.index, graph.entity(of: model))
    switch model.content(at: index) {
    case .attribute: return
    case .toOne(let target):
      guard case .row(let row) = target, let destination = property.destination else { return }
      _ = try object(graph.layout.entities[destination], row: row)
    case .toMany(let targets):
      guard targets.loaded == nil || incompleteLists.contains(model, entity, property),
        model._$statePointer.pointee.rowID > 0
      else { return }
      // `read` skips lists that are loaded.
      model.updateTargets(at: index) { $0.loaded = nil }
      if let error = read(index, of: [model], entity) { throw error }
    }
  }

  /// Whether a rule reads or changes the objects that a deleted one led to.
  func concerns(
    _ rule: Schema.Relationship.DeleteRule?, _ property: PropertyLayout
  ) -> Bool {
    switch rule {
    case .cascade, .deny: true
    case .nullify:
      switch property.kind {
      case .toMany(.inverse, _): true
      // The pairs of a deleted object go with it.
      case .toMany(.join, _): false
      // A to-one inverse is a column of the destination's row, which has to be cleared.
      default: property.isOneToOne
      }
    default: false
    }
  }

  /// Whether a reference leads to a row that is there and cannot be read.
  ///
  /// Reads the row, unless its object is registered.
  func isUnreadable(_ target: _Target, _ property: PropertyLayout) -> Bool {
    guard case .row(let row) = target, let destination = property.destination else { return false }
    do {
      _ = try object(graph.layout.entities[destination], row: row)
      return false
    } catch {
      return true
    }
  }

  /// The members of a list that was not loaded before it was replaced: its rows with the pending changes.
  func derivedMembers(
    of owner: any PersistentModel, at index: Int, _ delta: ToManyDelta?
  ) -> [AnyObject] {
    let row = owner._$statePointer.pointee.rowID
    guard row > 0 else { return delta?.applied(to: []) ?? [] }
    let entity = graph.entity(of: owner)
    let property = entity.properties[index]
    do {
      let groups = try loadGroups([row], property)
      if let error = groups.failures[row] {
        incompleteLists.note(owner, entity, property, isIncomplete: true)
        reportUnloaded(entity, index, error)
      }
      return derived(groups.objects[row] ?? [], owner, property, delta)
    } catch {
      incompleteLists.note(owner, entity, property, isIncomplete: true)
      reportUnloaded(entity, index, error)
      return []
    }
  }

  /// The members of a stored object's list by the rows alone; nil if these cannot be read.
  func storedMembers(of owner: any PersistentModel, at index: Int) -> [AnyObject]? {
    let row = owner._$statePointer.pointee.rowID
    guard row > 0 else { return nil }
    let groups = try? loadGroups([row], graph.entity(of: owner).properties[index])
    guard let groups, groups.failures[row] == nil else { return nil }
    return groups.objects[row] ?? []
  }

  /// The members of one list of each of some owners, by the rows alone, in one query.
  private func loadGroups(
    _ rows: [Int64], _ property: PropertyLayout
  ) throws -> OwnedObjects.Groups {
    guard case .toMany(let storage, let destination) = property.kind else { return .init() }
    let query = ToManyQuery(
      storage, property.relationship?.list, graph.entities[destination].lazyPlan.plan,
      isSingle: rows.count == 1)
    return try lookUp(in: graph.entities[destination].storeIndex) { connection in
      let statement = try connection.statement(query.sql)
      statement.reset()
      defer { statement.reset() }
      statement.bind(
        rows.count == 1 ? .integer(rows[0]) : .text(rows.map { Int($0) }.jsonText), at: 1)
      return try graph.loader.collectGroups(statement, query)
    }
  }

  /// The members of a list: those of its rows, with the pending changes of this context.
  ///
  /// Invariant: a member whose to-one side was changed here is in the list that it leads to, whatever its row says.
  /// So a list that is loaded after a change agrees with the members that were changed before. Objects that have left
  /// the context are not in it.
  private func derived(
    _ stored: [AnyObject], _ owner: any PersistentModel, _ property: PropertyLayout,
    _ delta: ToManyDelta?
  ) -> [AnyObject] {
    // The usual case. Without pending changes the rows decide alone, and no member has to be looked at.
    if graph.pending.isEmpty { return stored }
    var current = stored
    if case .toMany(.inverse(let toOne), _) = property.kind {
      // A member's own reference counts if this context has changed it.
      current = stored.filter { object in
        guard let model = object as? any PersistentModel, model.has(_ModelFlags.changed),
          model._$statePointer.pointee.changes.contains(toOne)
        else { return true }
        return refers(model, toOne, to: owner, property.relationship?.list)
      }
    }
    // Then the delta: what was added or removed here wins over the rows (a three-way merge,
    // `ToManyDelta.applied(to:)`).
    let members = delta?.applied(to: current) ?? current
    return members.filter { object in
      guard let model = object as? any PersistentModel else { return false }
      return graph.isHere(model) || !model.has(_ModelFlags.missing)
    }
  }

  /// Reads the row of a stale, partial or empty object, as has to be done before one of its sides is changed: a later
  /// read would replace the changed side by the row's.
  func makeCurrent(_ model: any PersistentModel) {
    if model.has(_ModelFlags.fault | _ModelFlags.stale | _ModelFlags.partial) { reload(model) }
  }

  // MARK: Looking

  /// The object that a to-one property leads to, if it is in memory; nothing is loaded.
  func registeredTarget(
    _ target: _Target, _ property: PropertyLayout
  ) -> (any PersistentModel)? {
    switch target {
    case .none: return nil
    case .model(let model): return model
    case .row(let row):
      return property.destination.flatMap { graph.registered(graph.layout.entities[$0], row: row) }
    }
  }

  /// The object that a to-one property leads to, loaded if necessary.
  func resolved(
    _ target: _Target, _ owner: any PersistentModel, _ index: Int
  ) -> (any PersistentModel)? {
    switch target {
    case .none: nil
    case .model(let model): model
    case .row(let row): resolve(row, owner, index) as? any PersistentModel
    }
  }

  /// What a to-one property leads to, loaded when it is not.
  func destination(of model: any PersistentModel, at index: Int) -> (any PersistentModel)? {
    guard graph.isHere(model) else { return nil }
    makeCurrent(model)
    guard case .toOne(let target) = model.content(at: index) else { return nil }
    return resolved(target, model, index)
  }

  /// Whether a to-one property leads to an owner, and, with the number of a list, to that list.
  func refers(
    _ model: any PersistentModel, _ index: Int, to owner: any PersistentModel, _ list: Int?
  ) -> Bool {
    if model.has(_ModelFlags.fault | _ModelFlags.stale), graph.isHere(model) { reload(model) }
    // Of several lists with one inverse, the number decides which has the object. No number means the first.
    if let list,
      list != model.list(at: index) ?? graph.entity(of: model).properties[index].firstList
    {
      return false
    }
    return switch model.content(at: index) {
    case .toOne(.model(let target)): target === owner
    case .toOne(.row(let row)): row == owner._$statePointer.pointee.rowID
    default: false
    }
  }
}
