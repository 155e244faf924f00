import CSteadRuntime

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
