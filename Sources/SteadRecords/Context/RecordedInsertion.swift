/// A recorded insertion, which undo takes back: by the object's removal, or, if the save found a row with the object's
/// unique values, by giving that row its content back.
final class RecordedInsertion {
  /// What the insertion's save has overwritten.
  private(set) var overwritten: RowCopy?
  /// What the save that is under way overwrites.
  var found: RowCopy?

  func endSave(succeeded: Bool) {
    if succeeded { overwritten = found }
    found = nil
  }
}

/// The content of a row before a new object took it over.
struct RowCopy {
  let attributes: [(index: Int, copy: Any)]
  /// What the to-one relationships led to, and the list that the object was in there.
  let references: [(index: Int, target: _Target, list: Int?)]
  let members: [(index: Int, rows: [Int64])]
}

extension ObjectGraph {
  /// Keeps the content of the rows that new objects are about to overwrite, for the undo of their insertion.
  ///
  /// Called once the new objects have their rows' numbers, and before any row is written: a relationship that is loaded
  /// later would be loaded with new rows, whose objects are not registered yet.
  func keepOverwrittenRows(_ new: [any PersistentModel], upserted: Set<ObjectIdentifier>) {
    guard undo.isRecording else { return }
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
      guard upserted.contains(ObjectIdentifier(model)), let insertion = undo.insertion(of: model)
      else { continue }
      if let source = last[place] ?? registered(entity, row: place.row) {
        insertion.found = copy(of: source)
      } else if let source = try? reader.load(entity, rows: [place.row]).first {
        insertion.found = reader.copy(of: source)
      }
    }
  }

  private struct RowPlace: Hashable {
    let root: Int
    let row: Int64
  }

  private func copy(of model: any PersistentModel) -> RowCopy {
    if model.has(_ModelFlags.slowRead), isHere(model) { reload(model) }
    var attributes: [(index: Int, copy: Any)] = []
    var references: [(index: Int, target: _Target, list: Int?)] = []
    var members: [(index: Int, rows: [Int64])] = []
    for property in entity(of: model).properties {
      let index = property.index
      switch model.content(at: index) {
      case .attribute:
        if let copy = model.copySlot(at: index) { attributes.append((index, copy)) }
      case .toOne(.model(let target)):
        references.append((index, .row(target._$statePointer.pointee.rowID), model.list(at: index)))
      case .toOne(let target): references.append((index, target, model.list(at: index)))
      case .toMany:
        let rows = self.members(of: model, at: index).compactMap { object in
          (object as? any PersistentModel)?._$statePointer.pointee.rowID
        }
        members.append((index, rows))
      }
    }
    return RowCopy(attributes: attributes, references: references, members: members)
  }

  /// Gives the object of a row the content that the row had.
  func restore(_ row: RowCopy, of model: any PersistentModel) {
    guard isHere(model) else { return }
    for (index, copy) in row.attributes { restoreAttribute(copy, of: model, at: index) }
    for (index, target, list) in row.references {
      guard case .toOne(let old) = model.content(at: index) else { continue }
      let property = entity(of: model).properties[index]
      let destination = property.destination.map { layout.entities[$0] }
      var new: (any PersistentModel)?
      if case .row(let row) = target, let destination { new = stored(destination, row) }
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
    for (index, rows) in row.members {
      let before = members(of: model, at: index)
      guard let destination = entity(of: model).properties[index].destination else { continue }
      let list = rows.compactMap { stored(layout.entities[destination], $0) }
      notifying(model, index) { model.updateTargets(at: index) { $0.loaded = list } }
      didReplaceMembers(of: model, at: index, before, with: list)
      didChange(model, at: index)
    }
  }

  /// Puts an object at the end of a list, or into the place of a to-one property's destination.
  private func lead(
    _ owner: any PersistentModel, _ property: Inverses.Inverse, to model: any PersistentModel
  ) {
    guard property.isToMany else { return setReference(of: owner, property.index, model) }
    let members = members(of: owner, at: property.index)
    setMembers(of: owner, property.index, Self.withoutDuplicates(members + [model]))
  }

  private func stored(_ entity: EntityLayout, _ row: Int64) -> (any PersistentModel)? {
    // A row that is gone is left out.
    (try? object(entity, row: row)).flatMap { $0 }
  }
}
