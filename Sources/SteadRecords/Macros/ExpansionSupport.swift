import CSteadRuntime
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

// MARK: - Objects without an initializer

// An object that is read from a row gets its values from there. An initializer would evaluate the
// default value of every property first: `UUID()` alone takes longer than reading a row. So where
// `@Model` knows all stored properties of a final class, it allocates the object and fills its storage
// property by property.

/// Whether an object of a class can be made without an initializer: it has as many stored properties as `@Model` knows
/// of, and the class has the expected layout.
///
/// Another macro may have added a property that `@Model` does not see.
public func _canMake(_ type: AnyClass, fields: Int) -> Bool {
  let count = storedPropertyCount(of: type)
  // A property that was not placed would be uninitialized memory, and crash when the object is
  // released.
  guard count == fields, let layout = InstanceLayout(of: type) else { return false }
  // The runtime reports offset 0 for a property of no size, such as a proof of initialization.
  let offsets = (0..<count).map { storedPropertyOffset(of: type, index: $0) }.filter { $0 != 0 }
  guard (0..<count).allSatisfy({ isPlain(storedPropertyType(of: type, index: $0)) }) else {
    return false
  }
  return offsets.allSatisfy { $0 >= InstanceLayout.headerSize && $0 <= layout.size }
    && layout.size >= InstanceLayout.headerSize && layout.size <= InstanceLayout.sizeLimit
    && layout.alignmentMask <= InstanceLayout.alignmentMaskLimit
}

/// Whether values of a type are stored in a property as they are in generic code.
///
/// Functions, metatypes and tuples of them are not: they would be converted on the way to ``_place(_:in:)``, with a
/// copy of the property's former value, which doesn't exist yet.
private func isPlain(_ type: Any.Type) -> Bool {
  // The runtime substitutes this for a type that cannot be copied, such as the object's state.
  if type == Void.self { return true }
  if let optional = type as? any OptionalType.Type { return isPlain(optional.wrappedType) }
  // Kinds of the runtime's ABI: class, struct, enum, optional and existential.
  let kind = unsafeBitCast(type, to: UnsafePointer<Int>.self).pointee
  return [0, 0x200, 0x201, 0x202, 0x303].contains(kind)
}

/// An object with uninitialized storage, for a class that passed ``_canMake(_:fields:)``.
public func _allocate<Model: AnyObject>(_ type: Model.Type) -> Model {
  guard let layout = InstanceLayout(of: type) else {
    preconditionFailure("\(type) has no layout")  // allowed: `_canMake` was asked first
  }
  let metadata = unsafeBitCast(type as AnyClass, to: UnsafeMutableRawPointer.self)
  let object = stead_alloc_object(metadata, layout.size, layout.alignmentMask)
  return Unmanaged<Model>.fromOpaque(object).takeRetainedValue()
}

/// Initializes a stored property of an object that was allocated without an initializer.
@inlinable public func _place<Value: ~Copyable>(_ value: consuming Value, in place: inout Value) {
  // The place holds nothing yet that an assignment could release, and it is inline in an object, where it stays.
  let pointer = withUnsafeMutablePointer(to: &place) { $0 }
  pointer.initialize(to: value)
}

/// Lets a class set the properties that are not stored, whatever actor the class belongs to.
///
/// Nothing else refers to the object yet, and isolation is not part of how a function is called.
public func _fillUnstored<Model, Function>(_ object: Model, with function: Function) {
  unsafeBitCast(function, to: ((Model) -> Void).self)(object)
}

/// The size and alignment of a class's objects, read from its metadata.
private struct InstanceLayout {
  /// The metadata and the reference counts.
  static let headerSize = 16
  /// Far above any real class, so that a misread layout is noticed.
  static let sizeLimit = 1 << 20
  static let alignmentMaskLimit = 63

  /// The bytes of an object, its header included.
  let size: Int
  /// The alignment less 1, as the runtime's allocation takes it.
  let alignmentMask: Int

  init?(of type: AnyClass) {
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    // Kind and superclass; on Apple's systems three more words that Objective-C uses; then the flags
    // and the address point, of 32 bits each, before size and alignment mask.
    #if canImport(Darwin)
      let start = 5 * MemoryLayout<Int>.size
    #else
      let start = 2 * MemoryLayout<Int>.size
    #endif
    size = Int(metadata.load(fromByteOffset: start + 8, as: UInt32.self))
    alignmentMask = Int(metadata.load(fromByteOffset: start + 12, as: UInt16.self))
  }
}
