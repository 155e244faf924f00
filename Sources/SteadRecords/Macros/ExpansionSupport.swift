public import Observation

// What the macros' expansions call, besides the typed storage.

/// Observation's protocol under a name that generated code can qualify in files without that import.
public typealias _Observable = Observable

/// A value of no size: its initialization stands for that of a property.
public struct _Initialized {
  /// Marks the property as initialized, at no cost at run time.
  @inlinable public init() {}
}

/// Calls a class's description of itself from any thread, whatever actor the class belongs to.
///
/// Isolation to a global actor is not part of how a function is called, only of where. The functions passed in make key
/// paths and evaluate default values; neither touches an object of the class.
public func _describe<Function>(_ function: Function) -> [Schema.PropertyMetadata] {
  unsafeBitCast(function, to: (() -> [Schema.PropertyMetadata]).self)()
}

/// The address of an object's state, which is stored inline in the object and so stays where it is.
@inlinable public func _pointer(
  to state: inout _ModelState
) -> UnsafeMutablePointer<_ModelState> {
  withUnsafeMutablePointer(to: &state) { $0 }
}

/// The address of a property's storage, which the engine changes while the property's accessor runs. It is stored
/// inline in an object, and so stays where it is.
@inlinable public func _address<Slot: _Slot>(of slot: inout Slot) -> UnsafeMutablePointer<Slot> {
  withUnsafeMutablePointer(to: &slot) { $0 }
}

/// Stores what the program has made of a value that was lent to it.
@inlinable public func _takeBack<Slot: _Slot, Owner: PersistentModel>(
  _ value: Slot.Value, into place: UnsafeMutablePointer<Slot>, _ owner: Owner, _ index: Int
) {
  Slot._takeBack(value, into: place, owner, index)
}

// The arguments of `#Unique` and `#Index`. For a list of key paths, the compiler reports which one names no property;
// for an array of them, only that the array has the wrong type.

/// Properties that `#Unique` names together: `[\.firstName, \.lastName]`.
public struct _PropertySet<Model: PersistentModel>: ExpressibleByArrayLiteral {
  /// Only for the compiler to check: `@Model` reads the source.
  public init(arrayLiteral keyPaths: PartialKeyPath<Model>...) {}
}

extension Schema.Index.Types: ExpressibleByArrayLiteral {
  /// An ordered index over the listed properties.
  public init(arrayLiteral keyPaths: PartialKeyPath<P>...) { self = .binary(keyPaths) }
}

// MARK: - Constants

// A `let` cannot have accessors, so it is stored as it is. Reading a row must still set it: in a new object by
// initialization, in an existing one by writing to where it lies. A relationship cannot be a `let`: its value depends on
// other objects and changes with them.

/// A slot whose value is made from its column alone, which is what a `let` property can be.
public protocol _ConstantSlot: _Slot {}

extension _AttributeSlot: _ConstantSlot {}
extension _RawSlot: _ConstantSlot {}
extension _OptionalRawSlot: _ConstantSlot {}
extension _CodableSlot: _ConstantSlot {}
extension _TransformableSlot: _ConstantSlot {}
extension _ExternalSlot: _ConstantSlot {}
extension _UnstorableSlot: _ConstantSlot {}

/// The value of a `let` property of an object being made from a row.
public func _loadConstant<Slot: _ConstantSlot>(
  _ slot: Slot, _ row: _RowReader, _ index: Int
) -> Slot.Value {
  var slot = slot
  slot._load(row, index)
  return slot.read(ConstantOwner(), index)
}

/// Sets a `let` property of an existing object, if the row has its column.
public func _reloadConstant<Owner: PersistentModel, Slot: _ConstantSlot>(
  _ owner: Owner, _ offset: Int?, _ slot: Slot, _ row: _RowReader, _ index: Int
) {
  guard let offset, row._column(index) >= 0 else { return }
  var slot = slot
  slot._load(row, index)
  setConstant(of: owner, at: offset, to: slot.read(owner, index))
}

/// Sets a `let` property to what a visitor has made of the copy of its slot, if the visitor is one that sets values.
public func _writeBack<Slot: _ConstantSlot, Owner: PersistentModel, Visitor: _SlotVisitor>(
  _ slot: Slot, _ owner: Owner, _ offset: Int?, _ index: Int, _ visitor: Visitor
) {
  guard Visitor.setsAttributes, let offset else { return }
  setConstant(of: owner, at: offset, to: slot.read(owner, index))
}

/// Writes a value to where a stored property lies.
///
/// - Parameter offset: That of a stored property of the value's type in the object's class.
private func setConstant<Value>(of owner: some PersistentModel, at offset: Int, to value: Value) {
  withExtendedLifetime(owner) {
    let address = Unmanaged.passUnretained(owner).toOpaque() + offset
    address.assumingMemoryBound(to: Value.self).pointee = value
  }
}

/// A slot that holds the value of a `let` property, for code that reads slots.
public func _fill<Slot: _ConstantSlot>(_ slot: Slot, _ value: Slot.Value) -> Slot { Slot(value) }

// What the compiler finds for a relationship that is a `let`: less constrained than the functions above, and so never
// chosen where one of those fits.

@available(*, unavailable, message: "a relationship must be declared with 'var'")
public func _loadConstant<Slot: _Slot>(
  _ slot: Slot, _ row: _RowReader, _ index: Int
) -> Slot.Value {
  slot.read(ConstantOwner(), index)
}

@available(*, unavailable, message: "a relationship must be declared with 'var'")
public func _reloadConstant<Owner: PersistentModel, Slot: _Slot>(
  _ owner: Owner, _ offset: Int?, _ slot: Slot, _ row: _RowReader, _ index: Int
) {}

@available(*, unavailable, message: "a relationship must be declared with 'var'")
public func _fill<Slot: _Slot>(_ slot: Slot, _ value: Slot.Value) -> Slot { slot }

/// The offsets of `let` properties in objects of a class; nil for a name that is not a stored property.
public func _constantOffsets(in type: AnyClass, _ names: [String]) -> [Int?] {
  storedPropertyOffsets(in: type, names)
}

/// Stands in for the owner of a slot that is read before its object exists; attributes ask it nothing.
private final class ConstantOwner: PersistentModel {
  private var state = _ModelState()

  init() {}
  init(_row row: _RowReader) {}

  var _$statePointer: UnsafeMutablePointer<_ModelState> {
    withUnsafeMutablePointer(to: &state) { $0 }
  }
  static var _$supermodel: (any PersistentModel.Type)? { nil }
  static var _$propertyCount: Int { 0 }
  static var schemaMetadata: [Schema.PropertyMetadata] { [] }

  func _$reload(_ row: _RowReader) {}
  func _$bind(_ row: _RowWriter) {}
  func _$visit<Visitor: _SlotVisitor>(_ index: Int, _ visitor: inout Visitor) {}
}
