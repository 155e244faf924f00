import Foundation

/// The storage of a value that has a column encoding of its own.
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

/// The storage of an enum or option set, which lies in its raw value's column.
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

/// The storage of any other Codable value, which lies in its column as JSON.
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

/// The storage of a value that a `ValueTransformer` turns into data.
public struct _TransformableSlot<Value>: _Slot {
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
      value = try row.transformed(index, column, to: Value.self)
    } catch {
      row._reject(index, column, error)
    }
  }

  public func _bind(_ row: _RowWriter, _ index: Int) {
    let parameter = row._parameter(index)
    guard parameter > 0, let value else { return }
    do {
      try row.bindTransformed(value, index, parameter)
    } catch {
      row._fail(index, error)
    }
  }
}

/// The storage of data that lies in a file of its own from a certain size on.
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
      if let value = external.data(for: owner, index) as? Value { return value }
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
    case .reference(let external): row.bind(external.reference, parameter)
    case .none: break
    }
  }
}
