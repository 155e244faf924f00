import Foundation

/// The storage of data that is kept in a separate file above a certain size.
///
/// The bytes are read when the property is first read, not when the row is.
public struct _ExternalSlot<Value>: _Slot {
  enum Content {
    case value(Value)
    case reference(ExternalData)
    case none
  }

  var content: Content

  public init(_ value: Value) { content = .value(value) }

  @usableFromInline init() { content = .none }

  public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value {
    switch content {
    case .value(let value): return value
    case .reference(let external):
      let data = external.data(for: owner, index)
      if let value = data as? Value { return value }
      return _missingValue(owner, index)
    case .none: return _missingValue(owner, index)
    }
  }

  public mutating func _load(_ row: _RowReader, _ index: Int) {
    let column = row._column(index)
    guard column >= 0 else { return }
    if let external = row.external(column) {
      content = .reference(external)
    } else if !row._isNull(column), let value = Data._decode(row, column) as? Value {
      content = .value(value)
    } else if let absent = Data?.none as? Value {
      content = .value(absent)
    } else {
      row._reject(index, column)
    }
  }

  public func _bind(_ row: _RowWriter, _ index: Int) {
    let parameter = row._parameter(index)
    guard parameter > 0 else { return }
    switch content {
    case .value(let value):
      guard let data = value as? Data else { return }
      do {
        try row.bindExternal(data, parameter)
      } catch {
        row._fail(index, error)
      }
    case .reference(let external):
      do {
        try row.bindExternal(external, parameter)
      } catch {
        row._fail(index, error)
      }
    case .none: break
    }
  }
}
