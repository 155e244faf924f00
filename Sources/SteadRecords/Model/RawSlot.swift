import Foundation

/// The storage of an enum or option set, whose column holds its raw value.
public struct _RawSlot<Value: RawRepresentable>: _Slot where Value.RawValue: _AttributeValue {
  @usableFromInline var value: Value?

  @inlinable public init(_ value: Value) { self.value = value }

  @inlinable init() {}

  @inlinable public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value {
    if let value { return value }
    return _missingValue(owner, index)
  }

  @inlinable public mutating func _load(_ row: _RowReader, _ index: Int) {
    let column = row._column(index)
    guard column >= 0 else { return }
    if let value = Value(rawValue: Value.RawValue._decode(row, column)) {
      self.value = value
    } else {
      row._reject(index, column)
    }
  }

  @inlinable public func _bind(_ row: _RowWriter, _ index: Int) {
    let parameter = row._parameter(index)
    if parameter > 0 { value?.rawValue._encode(row, parameter) }
  }
}
