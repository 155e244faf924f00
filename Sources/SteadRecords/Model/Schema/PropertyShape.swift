import Foundation

/// What a property's Swift type means for storage.
///
/// This is the run-time twin of the overloads of `_makeSlot`: both must sort a type into the same
/// kind.
struct PropertyShape: @unchecked Sendable {
  // Sendable: types and a case of an enum, all immutable.
  let isOptional: Bool
  /// The model type of a relationship.
  let model: (any PersistentModel.Type)?
  let isToMany: Bool
  /// The type without its optional.
  let wrapped: any Any.Type
  /// How values of the type, which isn't a relationship, are stored in a column.
  let encoding: ColumnEncoding

  /// Each question about a type searches all conformances of the program when it is asked first.
  private static let known = TypeCache<PropertyShape>()

  init(_ type: any Any.Type) {
    self = Self.known.value(for: ObjectIdentifier(type)) { PropertyShape(examining: type) }
  }

  private init(examining type: any Any.Type) {
    if case .optional(let wrapped) = TypeForm(type) {
      (isOptional, self.wrapped) = (true, wrapped)
    } else {
      (isOptional, wrapped) = (false, type)
    }
    switch TypeForm(wrapped) {
    case .classType:
      (model, isToMany) = (ModelMetadata.model(wrapped), false)
    case .array(let element):
      if case .classType = TypeForm(element) {
        model = ModelMetadata.model(element)
      } else {
        model = nil
      }
      isToMany = model != nil
    case .structType, .optional, .other:
      let collection = wrapped as? any RelationshipCollection.Type
      (model, isToMany) = (collection.map { Self.element(of: $0) }, collection != nil)
    }
    encoding = model == nil ? Self.encoding(of: wrapped) : .integer
  }

  private static func element<C: RelationshipCollection>(
    of type: C.Type
  ) -> any PersistentModel.Type {
    C.PersistentElement.self
  }

  private static func encoding(of type: any Any.Type) -> ColumnEncoding {
    if let value = type as? any _AttributeValue.Type { return value._columnEncoding }
    if let raw = type as? any RawRepresentable.Type, let encoding = rawEncoding(raw) {
      return encoding
    }
    return isStruct(type) && !isCollection(type) ? .composite : .json
  }

  private static func rawEncoding<R: RawRepresentable>(_ type: R.Type) -> ColumnEncoding? {
    (R.RawValue.self as? any _AttributeValue.Type)?._columnEncoding
  }

  private static func isStruct(_ type: any Any.Type) -> Bool {
    switch TypeForm(type) {
    case .structType, .array: true
    default: false
    }
  }

  private static func isCollection(_ type: any Any.Type) -> Bool {
    type is any Collection.Type || type is any SetAlgebra.Type
  }
}
