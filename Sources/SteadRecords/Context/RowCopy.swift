/// The content of a row before a new object took it over.
struct RowCopy {
  /// A list. Objects are kept as the array that the object itself has, so that a copy of an unchanged list takes no room.
  enum Members {
    case objects([AnyObject])
    case targets([_Target])

    var targets: [_Target] {
      switch self {
      case .objects(let objects):
        objects.compactMap { ($0 as? any PersistentModel).map { .model($0) } }
      case .targets(let targets): targets
      }
    }
  }

  var attributes: [(index: Int, copy: Any)]
  /// What the to-one relationships led to, and the list that the object was in there.
  var references: [(index: Int, target: _Target, list: Int?)]
  var members: [(index: Int, held: Members)]
}

extension RowCopy {
  /// The copy with rows' numbers, for an engine whose objects are not the context's.
  var byRows: RowCopy {
    func row(_ target: _Target) -> _Target {
      if case .model(let model) = target {
        .row(model._$statePointer.pointee.rowID)
      } else {
        target
      }
    }
    return RowCopy(
      attributes: attributes, references: references.map { ($0, row($1), $2) },
      members: members.map { ($0, .targets($1.targets.map(row))) })
  }
}

extension _Target {
  /// Of the object, or of the one that stands for it.
  var objectIdentifier: ObjectIdentifier? {
    if case .model(let model) = self { ObjectIdentifier(model.standIn) } else { nil }
  }

  var row: Int64? { if case .row(let row) = self { row } else { nil } }

  /// Whether this is an object, or the one that stands for it.
  func `is`(_ model: any PersistentModel) -> Bool {
    switch self {
    case .none: false
    case .row(let row): row == model.standIn._$statePointer.pointee.rowID
    case .model(let target): target.standIn === model.standIn
    }
  }
}
