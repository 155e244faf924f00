import Foundation

/// Lets code that holds a type as `Any.Type` find out what an optional wraps.
protocol OptionalType {
  static var wrappedType: any Any.Type { get }
}

extension Optional: OptionalType {
  static var wrappedType: any Any.Type { Wrapped.self }
}

/// What a property's Swift type means for storage.
///
/// This is the run-time twin of the overloads of `_makeSlot`: both must sort a type into the same
/// kind.
struct PropertyShape {
  let isOptional: Bool
  /// The model type of a relationship.
  let model: (any PersistentModel.Type)?
  let isToMany: Bool
  /// The type without its optional.
  let wrapped: any Any.Type

  init(_ type: any Any.Type) {
    let wrapped = (type as? any OptionalType.Type)?.wrappedType
    isOptional = wrapped != nil
    self.wrapped = wrapped ?? type
    if let model = self.wrapped as? any PersistentModel.Type {
      self.model = model
      isToMany = false
    } else if let collection = self.wrapped as? any RelationshipCollection.Type {
      model = Self.element(of: collection)
      isToMany = true
    } else {
      model = nil
      isToMany = false
    }
  }

  private static func element<C: RelationshipCollection>(
    of type: C.Type
  ) -> any PersistentModel.Type {
    C.PersistentElement.self
  }

  /// How values of the type, which is no relationship, are stored in a column.
  var encoding: ColumnEncoding {
    if let value = wrapped as? any _AttributeValue.Type { return value._columnEncoding }
    if let raw = wrapped as? any RawRepresentable.Type, let encoding = Self.rawEncoding(raw) {
      return encoding
    }
    return isStruct && !isCollection ? .composite : .json
  }

  private static func rawEncoding<R: RawRepresentable>(_ type: R.Type) -> ColumnEncoding? {
    (R.RawValue.self as? any _AttributeValue.Type)?._columnEncoding
  }

  /// The metadata's kind word; the numbers are part of Swift's stable ABI.
  private var isStruct: Bool {
    unsafeBitCast(wrapped, to: UnsafePointer<Int>.self).pointee == 0x200
  }

  private var isCollection: Bool {
    wrapped is any Collection.Type || wrapped is any SetAlgebra.Type
  }
}

/// Names for value types in an encoded schema.
enum ValueTypeName {
  static func name(of type: any Any.Type) -> String {
    _mangledTypeName(type) ?? String(reflecting: type)
  }

  /// The type of that name in this program, or `Any` when it has none.
  static func type(named name: String) -> any Any.Type {
    _typeByName(name) ?? Any.self
  }
}
