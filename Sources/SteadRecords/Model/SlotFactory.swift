public import Foundation

// `@Model` cannot see types, so it lets the compiler choose: each property's storage is what the best
// overload of `_makeSlot` returns for the property's type. `inferring:` is for properties without a
// type annotation; its argument is never evaluated. `external:` is for those with `.externalStorage`: it changes which
// overloads fit, and its value is never looked at. Relationships have no such option, so their overloads lack it.
//
// `PropertyShape` makes the same choice at run time, from a type alone. Whoever adds an overload here has to add it there.

/// The storage of a property with a column encoding of its own, holding a placeholder.
///
/// The functions of this name take a type, or a default value as an autoclosure, and only their
/// result type matters. They are public for the code that `@Model` generates: never call them.
@inlinable public func _makeSlot<T: _AttributeValue>(
  _: T.Type, external _: Bool = false
) -> _AttributeSlot<T> { .init() }
@inlinable public func _makeSlot<T: _AttributeValue>(
  inferring _: @autoclosure () -> T, external _: Bool = false
) -> _AttributeSlot<T> { .init() }

@inlinable public func _makeSlot<T: _AttributeValue & Codable>(
  _: T.Type, external _: Bool = false
) -> _AttributeSlot<T> { .init() }
@inlinable public func _makeSlot<T: _AttributeValue & Codable>(
  inferring _: @autoclosure () -> T, external _: Bool = false
) -> _AttributeSlot<T> { .init() }

// Apps make `Date` and the like `RawRepresentable`, to keep them in preferences. They stay what they are.
@inlinable public func _makeSlot<T: _AttributeValue & RawRepresentable & Codable>(
  _: T.Type, external _: Bool = false
) -> _AttributeSlot<T> where T.RawValue: _AttributeValue { .init() }
@inlinable public func _makeSlot<T: _AttributeValue & RawRepresentable & Codable>(
  inferring _: @autoclosure () -> T, external _: Bool = false
) -> _AttributeSlot<T> where T.RawValue: _AttributeValue { .init() }
@inlinable public func _makeSlot<T: _AttributeValue & RawRepresentable & Codable>(
  _: T?.Type, external _: Bool = false
) -> _AttributeSlot<T?> where T.RawValue: _AttributeValue { .init() }
@inlinable public func _makeSlot<T: _AttributeValue & RawRepresentable & Codable>(
  inferring _: @autoclosure () -> T?, external _: Bool = false
) -> _AttributeSlot<T?> where T.RawValue: _AttributeValue { .init() }

// An enum with raw values is stored by its raw value, not as JSON, so that predicates and plain SQL
// can compare it.
@inlinable public func _makeSlot<T: RawRepresentable & Codable>(
  _: T.Type, external _: Bool = false
) -> _RawSlot<T> where T.RawValue: _AttributeValue { .init() }
@inlinable public func _makeSlot<T: RawRepresentable & Codable>(
  inferring _: @autoclosure () -> T, external _: Bool = false
) -> _RawSlot<T> where T.RawValue: _AttributeValue { .init() }

@inlinable public func _makeSlot<T: RawRepresentable & Codable>(
  _: T?.Type, external _: Bool = false
) -> _OptionalRawSlot<T> where T.RawValue: _AttributeValue { .init() }
@inlinable public func _makeSlot<T: RawRepresentable & Codable>(
  inferring _: @autoclosure () -> T?, external _: Bool = false
) -> _OptionalRawSlot<T> where T.RawValue: _AttributeValue { .init() }

// Disfavored: an optional enum is Codable as well, and must get `_OptionalRawSlot`.
@_disfavoredOverload
@inlinable public func _makeSlot<T: Codable>(
  _: T.Type, external _: Bool = false
) -> _CodableSlot<T> { .init() }
@_disfavoredOverload
@inlinable public func _makeSlot<T: Codable>(
  inferring _: @autoclosure () -> T, external _: Bool = false
) -> _CodableSlot<T> { .init() }

// An app may make a model Codable. The overload for Codable is disfavored, so the model is still a
// relationship.
@inlinable public func _makeSlot<T: PersistentModel>(_: T.Type) -> _ToOneSlot<T> { .init() }
@inlinable public func _makeSlot<T: PersistentModel>(
  inferring _: @autoclosure () -> T
) -> _ToOneSlot<T> { .init() }

@inlinable public func _makeSlot<T: PersistentModel>(_: T?.Type) -> _OptionalToOneSlot<T> {
  .init()
}
@inlinable public func _makeSlot<T: PersistentModel>(
  inferring _: @autoclosure () -> T?
) -> _OptionalToOneSlot<T> { .init() }

@inlinable public func _makeSlot<T: PersistentModel>(_: [T].Type) -> _ToManySlot<T> { .init() }
@inlinable public func _makeSlot<T: PersistentModel>(
  inferring _: @autoclosure () -> [T]
) -> _ToManySlot<T> { .init() }

@inlinable public func _makeSlot<T: PersistentModel>(_: [T]?.Type) -> _OptionalToManySlot<T> {
  .init()
}
@inlinable public func _makeSlot<T: PersistentModel>(
  inferring _: @autoclosure () -> [T]?
) -> _OptionalToManySlot<T> { .init() }

// MARK: - Options

// With `external: true`, as `.externalStorage` has it, data is kept in files. The argument has no default here, so a
// property without the option gets an overload above. For any other attribute the option changes nothing, as in
// SwiftData.
@inlinable public func _makeSlot(_: Data.Type, external _: Bool) -> _ExternalSlot<Data> { .init() }
@inlinable public func _makeSlot(
  inferring _: @autoclosure () -> Data, external _: Bool
) -> _ExternalSlot<Data> { .init() }
@inlinable public func _makeSlot(_: Data?.Type, external _: Bool) -> _ExternalSlot<Data?> {
  .init()
}
@inlinable public func _makeSlot(
  inferring _: @autoclosure () -> Data?, external _: Bool
) -> _ExternalSlot<Data?> { .init() }

// Storage that an option of `@Attribute` decides, and not the type: `.transformable(by:)` and `.codable`. The macro
// sees the option, and calls the function by name.
@inlinable public func _makeTransformableSlot<T>(_: T.Type) -> _TransformableSlot<T> { .init() }
@inlinable public func _makeTransformableSlot<T>(
  inferring _: @autoclosure () -> T
) -> _TransformableSlot<T> { .init() }

@inlinable public func _makeOpaqueSlot<T: Codable>(_: T.Type) -> _CodableSlot<T> { .init() }
@inlinable public func _makeOpaqueSlot<T: Codable>(
  inferring _: @autoclosure () -> T
) -> _CodableSlot<T> { .init() }

// MARK: - Types that cannot be stored

// Overloads for types that no other overload accepts, so that the compiler explains what to do about the type instead
// of listing the others. `external:` has overloads of its own: with a default, its label would be in the error of each
// property.

@available(
  *, unavailable,
  message: """
    the type of this property cannot be stored. Make it Codable (an enum can have a raw value such \
    as String or Int and be Codable, too), mark the property @Transient, or name a transformer with \
    @Attribute(.transformable(by:)).
    """
)
public func _makeSlot<T>(_: T.Type) -> _UnstorableSlot<T> { .init() }

@available(
  *, unavailable,
  message: """
    the type of this property cannot be stored. Make it Codable (an enum can have a raw value such \
    as String or Int and be Codable, too), mark the property @Transient, or name a transformer with \
    @Attribute(.transformable(by:)).
    """
)
public func _makeSlot<T>(inferring _: @autoclosure () -> T) -> _UnstorableSlot<T> { .init() }

@available(
  *, unavailable,
  message: """
    the type of this property cannot be stored. Make it Codable (an enum can have a raw value such \
    as String or Int and be Codable, too), mark the property @Transient, or name a transformer with \
    @Attribute(.transformable(by:)).
    """
)
public func _makeSlot<T>(_: T.Type, external _: Bool) -> _UnstorableSlot<T> { .init() }

@available(
  *, unavailable,
  message: """
    the type of this property cannot be stored. Make it Codable (an enum can have a raw value such \
    as String or Int and be Codable, too), mark the property @Transient, or name a transformer with \
    @Attribute(.transformable(by:)).
    """
)
public func _makeSlot<T>(
  inferring _: @autoclosure () -> T, external _: Bool
) -> _UnstorableSlot<T> { .init() }

/// Stands for the storage of a type that cannot be stored, so that the compiler reports only one error.
public struct _UnstorableSlot<Value>: _Slot {
  var value: Value?

  public init(_ value: Value) { self.value = value }

  init() {}

  public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value {
    if let value { return value }
    return _missingValue(owner, index)
  }

  public mutating func _load(_ row: _RowReader, _ index: Int) {}

  public func _bind(_ row: _RowWriter, _ index: Int) {}
}
