public import Observation

// What the macros' expansions call, besides the typed storage.

/// Observation's protocol under a name that generated code can qualify in files without that import.
public typealias _Observable = Observable

/// A value of no size: its initialization stands for that of a property.
public struct _Initialized {
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

/// Makes what became of a value that was lent to the program the property's.
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
