import Synchronization

/// A recorded insertion, which undo takes back: by the object's removal, or, if the save found a row with the object's
/// unique values, by giving that row its content back.
final class RecordedInsertion {
  let model: any PersistentModel
  /// Greater than those of earlier insertions.
  let number: Int64
  /// What the insertion's save has overwritten.
  private(set) var overwritten: RowCopy?
  /// The number of the merge by which it did.
  private(set) var merge = 0
  /// What the save that is under way overwrites.
  var found: (row: RowCopy, merge: Int)?

  init(of model: any PersistentModel) {
    self.model = model
    number = Self.numbers.add(1, ordering: .relaxed).newValue
  }

  private static let numbers = Atomic<Int64>(0)

  func endSave(succeeded: Bool) {
    if succeeded, let found { (overwritten, merge) = (found.row, found.merge) }
    found = nil
  }

  // MARK: Earlier steps

  // What was done to the object before the insertion is still to be taken back when the insertion is undone. What was
  // done to it between the insertion and its save is taken back before, and so must be in what was overwritten.

  func keep(_ copy: Any, at index: Int) {
    guard let place = overwritten?.attributes.firstIndex(where: { $0.index == index }) else {
      return
    }
    overwritten?.attributes[place].copy = copy
  }

  func keep(_ side: RecordedSide) {
    switch side.before {
    case .reference(let target, let list):
      guard let place = overwritten?.references.firstIndex(where: { $0.index == side.index }),
        let held = overwritten?.references[place].target, side.hasLeft(held)
      else { return }
      overwritten?.references[place] = (side.index, target, list)
    case .members:
      guard let place = overwritten?.members.firstIndex(where: { $0.index == side.index }),
        let held = overwritten?.members[place].held
      else { return }
      overwritten?.members[place].held = .targets(side.takenBack(from: held.targets))
    }
  }

  /// Whether a list of the overwritten row had an object.
  func had(_ member: any PersistentModel, at index: Int) -> Bool {
    overwritten?.members.first { $0.index == index }?.held.targets.contains { $0.is(member) }
      ?? false
  }
}

extension ObjectGraph {
  /// Keeps the content of the rows that new objects are about to overwrite, for the undo of their insertion.
  ///
  /// Called once the new objects have their rows' numbers, and before any row is written: a relationship that is loaded
  /// later would be loaded with new rows, whose objects are not registered yet.
  func keepOverwrittenRows(_ new: [any PersistentModel], upserted: Set<ObjectIdentifier>) {
    guard undo.isRecording else { return }
    endSides()
    // An engine of its own, since an object of this one would stay the object of the row. It reads the transaction.
    let reader = ObjectGraph(container: container)
    reader.loader.observesModels = false
    reader.temporaryRows = [:]
    defer { reader.abandon() }
    var last: [RowPlace: any PersistentModel] = [:]
    for model in new {
      let state = model._$statePointer
      let entity = entity(of: model)
      let place = RowPlace(root: entity.rootIndex, row: state.pointee.rowID)
      defer { last[place] = model }
      guard upserted.contains(ObjectIdentifier(model)), undo.hasInsertion(of: model)
      else { continue }
      if let source = last[place] ?? registered(entity, row: place.row) {
        undo.keep(copy(of: source), for: model)
      } else if let source = try? reader.load(entity, rows: [place.row]).first {
        undo.keep(reader.copy(of: source).byRows, for: model)
      }
    }
  }

  private struct RowPlace: Hashable {
    let root: Int
    let row: Int64
  }

  func copy(of model: any PersistentModel) -> RowCopy {
    if model.has(_ModelFlags.slowRead), isHere(model) { reload(model) }
    var attributes: [(index: Int, copy: Any)] = []
    var references: [(index: Int, target: _Target, list: Int?)] = []
    var lists: [(index: Int, held: RowCopy.Members)] = []
    for property in entity(of: model).properties {
      let index = property.index
      switch model.content(at: index) {
      case .attribute:
        if let copy = model.copySlot(at: index) { attributes.append((index, copy)) }
      case .toOne(let target): references.append((index, target, model.list(at: index)))
      case .toMany:
        lists.append((index, .objects(members(of: model, at: index))))
      }
    }
    return RowCopy(attributes: attributes, references: references, members: lists)
  }

  /// Gives the object of a row the content that the row had.
  func restore(_ row: RowCopy, of model: any PersistentModel) {
    guard isHere(model) else { return }
    for (index, copy) in row.attributes { restoreAttribute(copy, of: model, at: index) }
    for (index, target, list) in row.references {
      guard case .toOne(let old) = model.content(at: index) else { continue }
      let property = entity(of: model).properties[index]
      let destination = property.destination.map { layout.entities[$0] }
      let new = destination.flatMap { found(target, $0) }
      if let new, let list, let inverse = inverse(of: property, list: list) {
        // From the other side, which determines one of several relationships.
        lead(new, inverse, to: model)
        continue
      }
      notifying(model, index) {
        model.setContent(.toOne(new.map { .model($0) } ?? .none), at: index)
      }
      didSetToOne(model, index, old, new)
      didChange(model, at: index)
    }
    for (index, held) in row.members {
      let before = members(of: model, at: index)
      guard let destination = entity(of: model).properties[index].destination else { continue }
      let list = Self.withoutDuplicates(
        held.targets.compactMap { found($0, layout.entities[destination]) as AnyObject? })
      notifying(model, index) { model.updateTargets(at: index) { $0.loaded = list } }
      didReplaceMembers(of: model, at: index, before, with: list)
      didChange(model, at: index)
    }
  }

  /// Puts an object at the end of a list, or into the place of a to-one property's destination.
  func lead(
    _ owner: any PersistentModel, _ property: Inverses.Inverse, to model: any PersistentModel
  ) {
    guard property.isToMany else { return setReference(of: owner, property.index, model) }
    let members = members(of: owner, at: property.index)
    setMembers(of: owner, property.index, Self.withoutDuplicates(members + [model]))
  }

  /// What a relationship of a row led to; nil if it is gone.
  private func found(_ target: _Target, _ entity: EntityLayout) -> (any PersistentModel)? {
    switch target {
    case .none: nil
    case .row(let row): (try? object(entity, row: row)).flatMap { $0 }
    case .model(let model): isHere(model.standIn) ? model.standIn : nil
    }
  }
}
