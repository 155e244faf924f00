/// The content of a row before a new object took it over.
struct RowCopy {
  var attributes: [(index: Int, copy: Any)]
  /// What the to-one relationships led to, and the list that the object was in there.
  var references: [(index: Int, target: _Target, list: Int?)]
  var members: [(index: Int, targets: [_Target])]
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
      members: members.map { ($0, $1.map(row)) })
  }
}

extension _Target {
  /// Whether this is an object, or the one that stands for it.
  func `is`(_ model: any PersistentModel) -> Bool {
    switch self {
    case .none: false
    case .row(let row): row == model.standIn._$statePointer.pointee.rowID
    case .model(let target): target.standIn === model.standIn
    }
  }
}
