import Foundation
import SteadFiles
import SteadSQLite

/// The storage of a value with a column encoding of its own: numbers, strings, dates, data and their optionals.
///
/// Loading and binding cannot fail: what a column has of another type is converted, as SQLite converts
/// it or to the type's nearest value.
public struct _AttributeSlot<Value: _AttributeValue>: _Slot {
  @usableFromInline var value: Value

  @inlinable public init(_ value: Value) { self.value = value }

  /// The storage of an object that is about to be filled from a row, with the placeholder of the
  /// type.
  @inlinable init() { value = Value._placeholder }

  /// The value, which is always there: a placeholder in an object without a row.
  @inlinable public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value {
    value
  }

  @inlinable public mutating func _load(_ row: _RowReader, _ index: Int) {
    let column = row._column(index)
    // -1: the statement does not select the column, and the value stays.
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
  /// nil until a row is loaded or a value is set.
  @usableFromInline var value: Value?

  @inlinable public init(_ value: Value) { self.value = value }

  @inlinable init() {}

  /// The value, or a placeholder in an object without a row. Ends the program if the type has no
  /// placeholder.
  @inlinable public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value {
    if let value { return value }
    return _missingValue(owner, index)
  }

  /// Takes the case of the raw value in the column, and rejects the column if there is none.
  @inlinable public mutating func _load(_ row: _RowReader, _ index: Int) {
    let column = row._column(index)
    guard column >= 0 else { return }
    if let value = Value(rawValue: Value.RawValue._decode(row, column)) {
      self.value = value
    } else {
      row._reject(index, column)
    }
  }

  /// Binds the raw value.
  @inlinable public func _bind(_ row: _RowWriter, _ index: Int) {
    let parameter = row._parameter(index)
    // Without a value the parameter stays unbound, which is NULL.
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

  /// Takes nil for NULL, else the case of the raw value in the column.
  @inlinable public mutating func _load(_ row: _RowReader, _ index: Int) {
    let column = row._column(index)
    guard column >= 0 else { return }
    // Before the raw value is decoded: the decoding of NULL gives 0 or an empty string, which may
    // be the value of a case.
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

  /// The decoded value. A row is decoded when it is loaded, so reading the property again costs
  /// nothing.
  public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value {
    if let value { return value }
    return _missingValue(owner, index)
  }

  /// Decodes the column's JSON; rejects the column, with the error as the cause, if that fails.
  public mutating func _load(_ row: _RowReader, _ index: Int) {
    let column = row._column(index)
    guard column >= 0 else { return }
    do {
      // The value stays as it was if this throws: a refreshed object keeps its own.
      value = try JSONColumn.decode(Value.self, row, column)
    } catch {
      row._reject(index, column, error)
    }
  }

  /// Encodes the value as JSON. An error makes the save throw.
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

  /// Has the transformer turn the column's data into a value; rejects the column if it returns
  /// none.
  public mutating func _load(_ row: _RowReader, _ index: Int) {
    let column = row._column(index)
    guard column >= 0 else { return }
    do {
      value = try row.transformed(index, column, to: Value.self)
    } catch {
      row._reject(index, column, error)
    }
  }

  /// Has the transformer turn the value into data. An error makes the save throw.
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
    /// A value that was set, or that the column itself holds.
    case value(Value)
    /// A value in a file, which is read at each access.
    case reference(ExternalData)
    /// No row was loaded and no value set.
    case none
  }

  var content: Content

  public init(_ value: Value) { content = .value(value) }

  @usableFromInline init() { content = .none }

  /// The value, for which a file may be read. If the file is gone or damaged, that is reported, and
  /// nil returned, or empty data if the property is not optional.
  ///
  /// The slot keeps the reference, so a save that writes the column writes the name of the file.
  public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value {
    switch content {
    case .value(let value): return value
    case .reference(let external):
      let data = external.data(for: owner, index)
      // nil is a value of an optional property alone.
      if let value = data as? Value { return value }
      return _missingValue(owner, index)
    case .none: return _missingValue(owner, index)
    }
  }

  /// Takes the value, or the name of its file, from the column; reads no file.
  public mutating func _load(_ row: _RowReader, _ index: Int) {
    let column = row._column(index)
    guard column >= 0 else { return }
    if let external = row.external(column) {
      content = .reference(external)
      // A value below the threshold is in the column itself. Text is the name of a file, and
      // `external` has taken it.
    } else if !row._isNull(column), let value = Data._decode(row, column) as? Value {
      content = .value(value)
      // The cast succeeds only for an optional property. A required one with NULL is rejected.
    } else if let absent = Data?.none as? Value {
      content = .value(absent)
    } else {
      row._reject(index, column)
    }
  }

  /// Binds the value, or writes it to a file and binds the file's name.
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
        // By its name, without reading the file, as long as the store has it.
        try row.bindExternal(external, parameter)
      } catch {
        row._fail(index, error)
      }
    case .none: break
    }
  }
}

extension ExternalData {
  /// The bytes of the file. nil, with a report, when the file is gone or damaged: a property's getter cannot throw.
  ///
  /// Another process removes files without regard to objects of this one. If it has replaced the value since, the newest
  /// committed value is returned, which may be nil.
  func data<Owner: PersistentModel>(for owner: Owner, _ index: Int) -> Data? {
    do {
      do {
        return try blobs.read(reference)
      } catch let error as FileError where error.code == .notFound {
        // The file is named by the digest of its bytes, so a new value has another name, and the
        // row has it.
        switch try owner._$statePointer.pointee.home?.newestColumn(of: owner, index) {
        case .null: return nil
        case .blob(let data): return data
        case .text(let other) where other != reference: return try blobs.read(other)
        // The row still names the missing file, or is gone: the file is really lost.
        default: throw error
        }
      }
    } catch {
      let title = owner._$statePointer.pointee.home?.title(of: index, of: owner)
      Report.problem(
        .externalFileFailed, subject: title ?? "property \(index) of \(owner.persistentModelID)",
        message: "The file cannot be read. Restore the store's directory from a backup.",
        cause: error)
      return nil
    }
  }
}
