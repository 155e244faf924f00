import Foundation

/// The storage of an optional enum or option set.
public struct _OptionalRawSlot<Wrapped: RawRepresentable>: _Slot
where Wrapped.RawValue: _AttributeValue {
  @usableFromInline var value: Wrapped?

  @inlinable public init(_ value: Wrapped?) { self.value = value }

  @inlinable init() {}

  @inlinable public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Wrapped? {
    value
  }

  @inlinable public mutating func _load(_ row: _RowReader, _ index: Int) {
    let column = row._column(index)
    guard column >= 0 else { return }
    if row._isNull(column) {
      value = nil
    } else if let value = Wrapped(rawValue: Wrapped.RawValue._decode(row, column)) {
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
