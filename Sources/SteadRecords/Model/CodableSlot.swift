import Foundation

/// The storage of any other Codable value, whose column holds JSON.
public struct _CodableSlot<Value: Codable>: _Slot {
  @usableFromInline var value: Value?

  @inlinable public init(_ value: Value) { self.value = value }

  @inlinable init() {}

  public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value {
    if let value { return value }
    return _missingValue(owner, index)
  }

  public mutating func _load(_ row: _RowReader, _ index: Int) {
    let column = row._column(index)
    guard column >= 0 else { return }
    do {
      value = try JSONColumn.decode(Value.self, row, column)
    } catch {
      row._reject(index, column, error)
    }
  }

  public func _bind(_ row: _RowWriter, _ index: Int) {
    let parameter = row._parameter(index)
    guard parameter > 0, let value else { return }
    do {
      try JSONColumn.encode(value, row, parameter)
    } catch {
      row._fail(index, error)
    }
  }
}
