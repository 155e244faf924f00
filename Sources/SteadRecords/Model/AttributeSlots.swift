import Foundation
import SteadFiles
import SteadSQLite

/// The storage of a value with a column encoding of its own: numbers, strings, dates, data and their optionals.
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

// MARK: - Raw values

/// The storage of an enum or option set, whose column holds its raw value.
///
/// A column that holds the raw value of no case is rejected: the fetch throws instead of guessing one.
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

/// The storage of an optional enum or option set: NULL is nil, and an unknown raw value is rejected, as in ``_RawSlot``.
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

// MARK: - JSON

/// The storage of any other Codable value: its column holds JSON.
///
/// nil only in an object without a row, and where the column could not be read, which the fetch has reported.
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

// MARK: - Transformers

/// The storage of a value that a `ValueTransformer` turns into data. The row's ``RowContext`` finds the transformer by the
/// attribute's name for it.
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

// MARK: - Files

/// The storage of data that is kept in a separate file above a certain size.
///
/// The bytes are read when the property is first read, not when the row is.
public struct _ExternalSlot<Value>: _Slot {
  /// Reading a reference does not replace it by the value, so that a list of objects with large values does not hold all of
  /// them in memory.
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

extension ExternalData {
  /// The bytes of the file. Empty, with a report, when the file is gone or damaged: a property's getter cannot throw.
  ///
  /// Another process removes files without regard to objects of this one. If it has replaced the value since, the newest
  /// committed value is returned, which may be nil.
  func data<Owner: PersistentModel>(for owner: Owner, _ index: Int) -> Data? {
    do {
      do {
        return try blobs.read(reference)
      } catch let error as FileError where error.code == .notFound {
        switch try owner._$statePointer.pointee.home?.newestColumn(of: owner, index) {
        case .null: return nil
        case .blob(let data): return data
        case .text(let other) where other != reference: return try blobs.read(other)
        default: throw error
        }
      }
    } catch {
      Report.problem(
        .externalFileFailed, subject: "property \(index) of \(owner.persistentModelID)",
        message: "The file cannot be read. Restore the store's directory from a backup.",
        cause: error)
      return Data()
    }
  }
}
