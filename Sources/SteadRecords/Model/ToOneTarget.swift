/// A destination: a row's number until it is first read, then the object.
@usableFromInline enum ToOneTarget<Model: PersistentModel> {
  case none
  case row(Int64)
  case model(Model)

  @usableFromInline
  func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Model? {
    switch self {
    case .none: return nil
    case .model(let model):
      // The row of the destination is gone, and no rule cleared what led to it.
      return model._$statePointer.pointee.has(_ModelFlags.missing) ? nil : model
    case .row(let row):
      guard let home = owner._$statePointer.pointee.home,
        let object = home.destination(row, of: owner, index) as? Model
      else { return nil }
      owner.setContent(.toOne(.model(object)), at: index)
      return object
    }
  }

  @inlinable mutating func load(_ row: _RowReader, _ index: Int) {
    let column = row._column(index)
    guard column >= 0 else { return }
    let id = row.integer(column)
    if id == 0 {
      self = .none
    } else if case .model(let model) = self, model._$statePointer.pointee.rowID == id,
      !model._$statePointer.pointee.has(_ModelFlags.stale)
    {
      return
    } else {
      self = .row(id)
    }
  }

  func bind(_ row: _RowWriter, _ index: Int) {
    let parameter = row._parameter(index)
    guard parameter > 0 else { return }
    switch self {
    case .none: break
    case .row(let id): row.bind(id, parameter)
    case .model(let model):
      let id = model._$statePointer.pointee.rowID
      if id > 0 { row.bind(id, parameter) }
    }
  }

  var erased: _Target {
    switch self {
    case .none: .none
    case .row(let id): .row(id)
    case .model(let model): .model(model)
    }
  }

  mutating func set(_ content: _SlotContent) {
    guard case .toOne(let target) = content else { return }
    switch target {
    case .none: self = .none
    case .row(let id): self = .row(id)
    case .model(let model):
      if let model = model as? Model {
        self = .model(model)
      } else if model._$statePointer.pointee.rowID > 0 {
        // A class that the schema has in the place of this one.
        self = .row(model._$statePointer.pointee.rowID)
      }
    }
  }
}
