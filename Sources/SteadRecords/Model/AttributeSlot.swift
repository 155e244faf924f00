import Foundation

/// The storage of a value with its own column encoding.
public struct _AttributeSlot<Value: _AttributeValue>: _Slot {
  @usableFromInline var value: Value

  @inlinable public init(_ value: Value) { self.value = value }

  @inlinable init() { value = Value._placeholder }

  @inlinable public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value {
    value
  }

  @inlinable public mutating func _load(_ row: _RowReader, _ index: Int) {
    let column = row._column(index)
    if column >= 0 { value = Value._decode(row, column) }
  }

  @inlinable public func _bind(_ row: _RowWriter, _ index: Int) {
    let parameter = row._parameter(index)
    if parameter > 0 { value._encode(row, parameter) }
  }
}
