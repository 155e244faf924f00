import Foundation
@_spi(Reflection) import Swift

/// What a property's Swift type means for storage.
///
/// Invariant: it sorts each type into the same kind as the overloads of `_makeSlot`, which the compiler resolves. If the two
/// disagreed, a column would be read in another encoding than it is declared and queried with.
struct PropertyShape: @unchecked Sendable {
  // Sendable: types and a case of an enum, all immutable.
  /// Whether the type is an optional. A doubly optional one counts as an optional of its inner
  /// type.
  let isOptional: Bool
  /// The model type of a relationship.
  let model: (any PersistentModel.Type)?
  /// Whether it is a relationship to several models; false for an attribute.
  let isToMany: Bool
  /// The type without its optional.
  let wrapped: any Any.Type
  /// The column's encoding of an attribute; unused for a relationship.
  let encoding: ColumnEncoding

  // The first cast of a type to a protocol searches all conformances of the program.
  private static let cache = TypeCache<PropertyShape>()

  init(_ type: any Any.Type) {
    self = Self.cache.value(for: ObjectIdentifier(type)) { PropertyShape(examining: type) }
  }

  /// Classifies a type: to-one for a model class, to-many for an array of one, else an attribute.
  private init(examining type: any Any.Type) {
    // One level: a doubly optional type is an attribute whose type is an optional.
    if case .optional(let wrapped) = TypeForm(type) {
      (isOptional, self.wrapped) = (true, wrapped)
    } else {
      (isOptional, wrapped) = (false, type)
    }
    switch TypeForm(wrapped) {
    case .classType:
      (model, isToMany) = (ModelMetadata.model(wrapped), false)
    case .array(let element):
      // Only for classes: asking an array of numbers for a model would be a cast, with its search.
      if case .classType = TypeForm(element) {
        model = ModelMetadata.model(element)
      } else {
        model = nil
      }
      isToMany = model != nil
    // A collection of the app's own that conforms to the public protocol.
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

  /// The column encoding of an attribute: the type's own, its raw value's, or JSON. A struct is JSON with fields that
  /// predicates can reach, unless it is a collection.
  private static func encoding(of type: any Any.Type) -> ColumnEncoding {
    // The order of `_makeSlot`'s overloads: an own encoding beats a raw value, and a raw value
    // beats JSON.
    if let value = type as? any _AttributeValue.Type { return value._columnEncoding }
    if let raw = type as? any RawRepresentable.Type, let encoding = rawEncoding(raw) {
      return encoding
    }
    return isStruct(type) && !isCollection(type) ? .composite : .json
  }

  /// Whether values are `Float`, or an enum's raw values of that type. JSON has such a number with fewer digits, and a
  /// column as a `Double` of the same value: what is read from JSON is rounded to be equal.
  var isSinglePrecision: Bool {
    guard encoding == .real else { return false }
    if wrapped == Float.self { return true }
    return (wrapped as? any RawRepresentable.Type).map { Self.rawType($0) == Float.self } ?? false
  }

  private static func rawType<R: RawRepresentable>(_ type: R.Type) -> any Any.Type {
    R.RawValue.self
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

  /// Collections and option sets are not taken apart into fields, although they are structs.
  private static func isCollection(_ type: any Any.Type) -> Bool {
    type is any Collection.Type || type is any SetAlgebra.Type
  }
}

// MARK: - Metadata of types

/// The form of a type, read from its metadata.
///
/// A cast answers the same question, but searches all conformances of the program for each type that it sees first,
/// which is most of what a schema would cost. The layout that is read here is part of Swift's stable ABI.
enum TypeForm {
  case optional(wrapped: any Any.Type)
  case array(element: any Any.Type)
  case classType
  case structType
  case other

  /// Kinds of metadata, from MetadataKind.def of the Swift project.
  private static let structKind = 0x200
  private static let optionalKind = 0x202
  /// A greater word is a pointer: on Apple's systems a class's metadata begins with its metaclass.
  private static let lastKind = 0x7FF

  init(_ type: any Any.Type) {
    let words = Self.words(of: type)
    switch words[0] {
    case Self.optionalKind: self = .optional(wrapped: Self.argument(words))
    case Self.structKind:
      // The descriptor is one for all arrays, whatever their element.
      let isArray = words[1] == Self.words(of: [Int].self)[1]
      self = isArray ? .array(element: Self.argument(words)) : .structType
    // 0 on Linux, where a class's metadata begins with its kind.
    case 0: self = .classType
    case let kind: self = kind > Self.lastKind ? .classType : .other
    }
  }

  /// The words of a type's metadata: its kind, for a value type the address of its descriptor, then its generic arguments.
  private static func words(of type: any Any.Type) -> UnsafePointer<Int> {
    unsafeBitCast(type, to: UnsafePointer<Int>.self)
  }

  private static func argument(_ words: UnsafePointer<Int>) -> any Any.Type {
    unsafeBitCast(words[2], to: Any.Type.self)
  }
}

// MARK: - Fields of structs

/// The fields of a Codable struct, by which predicates reach into it.
///
/// Only fields whose coding key equals their name are listed; a struct that renames its keys has none, and predicates
/// on it are evaluated in memory.
enum CompositeFields {
  /// A stored property of a struct, with its place in a value.
  struct Field {
    let name: String
    let type: any Any.Type
    let offset: Int
  }

  /// The stored properties whose coding key is their name.
  static func of(_ type: any Any.Type) -> [Field] {
    let fields = stored(in: type)
    // A type that cannot be decoded without data has no known keys: predicates on it are evaluated
    // in memory.
    guard let decodable = type as? any Decodable.Type,
      let keys = PlaceholderDecoder.keys(of: decodable)
    else { return [] }
    let names = Set(keys)
    return fields.filter { names.contains($0.name) }
  }

  /// All stored properties; none for `Any`, which stands for a type that the program lacks.
  static func stored(in type: any Any.Type) -> [Field] {
    guard type != Any.self else { return [] }
    var fields: [Field] = []
    _ = _forEachField(of: type, options: []) { name, offset, fieldType, _ in
      fields.append(Field(name: String(cString: name), type: fieldType, offset: offset))
      return true
    }
    return fields
  }
}

extension Schema.Attribute {
  /// Whether the value is an object.
  package var isClass: Bool { PropertyShape(valueType).wrapped is AnyClass }

  /// The fields of the struct that the value is, by their coding keys; none for other values, and for a struct whose keys
  /// are not known.
  package var structFields: [Schema.Attribute] {
    let type = PropertyShape(valueType).wrapped
    guard encoding == .composite, let decodable = type as? any Decodable.Type else { return [] }
    guard let keys = CodingKeyNames(of: decodable)?.strings else {
      return CompositeFields.of(type).map { Schema.Attribute(name: $0.name, valueType: $0.type) }
    }
    return CompositeFields.stored(in: type).compactMap { field in
      keys[field.name].map { Schema.Attribute(name: $0, valueType: field.type) }
    }
  }

  /// The names of the columns that SQLite computes of a struct's fields, less the property's.
  ///
  /// For a type that the program lacks, the recorded structure is used.
  var computedFields: [String] {
    guard encoding == .composite else { return [] }
    let type = PropertyShape(valueType).wrapped
    guard type == Any.self else { return CompositeFields.of(type).map(\.name) }
    guard case .fields(let fields, let keys)? = structure else { return [] }
    return fields.keys.filter { keys?.contains($0) ?? true }
  }
}
