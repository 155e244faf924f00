public import Observation

// What the macros' expansions call, beside the typed storage.

/// Observation's protocol under a name that generated code can qualify in files without that import.
public typealias _Observable = Observable

/// A value of no size: its initialization stands for that of a property.
public struct _Initialized {
  @inlinable public init() {}
}

/// Calls a class's description of itself from any thread, whatever actor the class belongs to.
///
/// Isolation to a global actor is no part of how a function is called, only of where. The functions
/// handed in make key paths and evaluate default values; neither touches an object of the class.
public func _describe<Function>(_ function: Function) -> [Schema.PropertyMetadata] {
  unsafeBitCast(function, to: (() -> [Schema.PropertyMetadata]).self)()
}
