@_spi(Reflection) import Swift

/// Finds out the structure of a type from its metadata.
///
/// It runs no code of the type, except that types are asked for their coding keys, and a struct which is a property's
/// value itself is asked as it is for predicates.
struct StructureReader {
  /// The greatest number of types within one; deeper ones have their names alone.
  private static let typeLimit = 1_000

  /// The option of classes, whose name the compiler takes for a variable.
  private static let ofClass = _EachFieldOptions(rawValue: 1)

  /// The types that the current one is part of.
  private var outer: [ObjectIdentifier] = []
  private var count = 0

  private static let known = TypeCache<TypeStructure>()

  /// The structure of a property's type, without its optional.
  static func structure(of type: any Any.Type) -> TypeStructure {
    known.value(for: ObjectIdentifier(type)) {
      var reader = StructureReader()
      // As `PropertyShape` decides: an app may give arrays a raw value, which the column then holds.
      if let raw = reader.raw(type) { return raw }
      return reader.read(type, asksForKeys: PropertyShape(type).encoding == .composite)
    }
  }

  private func raw(_ type: any Any.Type) -> TypeStructure? {
    guard !(type is any _AttributeValue.Type), let raw = type as? any RawRepresentable.Type else {
      return nil
    }
    return Self.raw(raw)
  }

  private static func raw<R: RawRepresentable>(_ type: R.Type) -> TypeStructure? {
    guard let value = R.RawValue.self as? any _AttributeValue.Type else { return nil }
    let values = EnumCases(type)?.values(of: type)
    return .raw(
      .named("\(value)"), cases: values.map { $0.map { "\($0.rawValue)" }.sorted() })
  }

  private mutating func read(_ type: any Any.Type, asksForKeys: Bool = false) -> TypeStructure {
    if type is any _AttributeValue.Type { return .named("\(type)") }
    if case .optional(let wrapped) = TypeForm(type) { return .optional(read(wrapped)) }
    if let collection = type as? any StructuredCollection.Type {
      return .collection(collection.structureName, collection.parts.map { read($0) })
    }
    if let raw = raw(type) { return raw }
    if Self.isOfSystem(type) { return .named(_typeName(type, qualified: false)) }
    if let level = outer.lastIndex(of: ObjectIdentifier(type)) {
      return .outer(outer.count - 1 - level)
    }
    count += 1
    guard count <= Self.typeLimit else { return .named(_typeName(type, qualified: false)) }
    outer.append(ObjectIdentifier(type))
    defer { outer.removeLast() }
    if let cases = EnumCases(type) { return choice(type, cases) }
    return fields(of: type, asksForKeys: asksForKeys)
  }

  private mutating func choice(_ type: any Any.Type, _ cases: EnumCases) -> TypeStructure {
    let decodable = type as? any Decodable.Type
    let names = decodable.flatMap { CodingKeyNames(of: $0)?.strings }
    var parts: [String: [TypeStructure]] = [:]
    for one in cases.cases {
      let payload = one.payload
      let keys =
        payload == nil
        ? nil
        : decodable.flatMap {
          CodingKeyNames(of: $0, payloadOf: names?[one.name] ?? one.name)?.strings
        }
      parts[one.name] = payload.map { self.payload($0, keys ?? [:]) } ?? []
    }
    let renamed = names.map { Set($0.values) }.flatMap { $0 == Set(parts.keys) ? nil : $0.sorted() }
    return .choice(parts, keys: renamed)
  }

  /// The parts of a payload; one with a label, or with a key of another name, is a struct's field.
  private mutating func payload(
    _ type: any Any.Type, _ keys: [String: String]
  ) -> [TypeStructure] {
    let tuple = TupleParts(type)
    return zip(tuple?.labels ?? [""], tuple?.types ?? [type]).enumerated().map { index, part in
      let name = part.0.isEmpty ? "_\(index)" : part.0
      let key = keys[name].flatMap { $0 == name ? nil : [$0] }
      let value = read(part.1)
      return part.0.isEmpty && key == nil ? value : .fields([name: value], keys: key)
    }
  }

  private mutating func fields(of type: any Any.Type, asksForKeys: Bool) -> TypeStructure {
    var types: [(name: String, type: any Any.Type)] = []
    let isKnown = _forEachField(of: type, options: type is AnyClass ? Self.ofClass : []) {
      name, _, fieldType, _ in
      types.append((String(cString: name), fieldType))
      return true
    }
    guard isKnown else { return .named(_typeName(type, qualified: false)) }
    var keys: [String]?
    if let decodable = type as? any Decodable.Type,
      let asked = (asksForKeys ? PlaceholderDecoder.keys(of: decodable).map(Set.init) : nil)
        ?? CodingKeyNames(of: decodable).map({ Set($0.strings.values) }),
      asked != Set(types.map(\.name))
    {
      keys = asked.sorted()
    }
    let fields = types.map { ($0.name, read($0.type, asksForKeys: asksForKeys)) }
    return .fields(Dictionary(fields) { first, _ in first }, keys: keys)
  }

  /// Whether a type is one whose coding stays the same.
  private static func isOfSystem(_ type: any Any.Type) -> Bool {
    let name = _typeName(type, qualified: true)
    return [
      "Swift.", "Foundation.", "FoundationEssentials.", "CoreFoundation.", "CoreGraphics.", "__C.",
    ]
    .contains { name.hasPrefix($0) }
  }
}

/// A type of the standard library that is made of values of other types.
private protocol StructuredCollection {
  static var structureName: String { get }
  static var parts: [any Any.Type] { get }
}

extension Array: StructuredCollection {
  static var structureName: String { "Array" }
  static var parts: [any Any.Type] { [Element.self] }
}

extension Set: StructuredCollection {
  static var structureName: String { "Set" }
  static var parts: [any Any.Type] { [Element.self] }
}

extension Dictionary: StructuredCollection {
  static var structureName: String { "Dictionary" }
  static var parts: [any Any.Type] { [Key.self, Value.self] }
}

extension ContiguousArray: StructuredCollection {
  static var structureName: String { "ContiguousArray" }
  static var parts: [any Any.Type] { [Element.self] }
}

extension ArraySlice: StructuredCollection {
  static var structureName: String { "ArraySlice" }
  static var parts: [any Any.Type] { [Element.self] }
}

extension CollectionOfOne: StructuredCollection {
  static var structureName: String { "CollectionOfOne" }
  static var parts: [any Any.Type] { [Element.self] }
}

extension Range: StructuredCollection {
  static var structureName: String { "Range" }
  static var parts: [any Any.Type] { [Bound.self] }
}

extension ClosedRange: StructuredCollection {
  static var structureName: String { "ClosedRange" }
  static var parts: [any Any.Type] { [Bound.self] }
}

extension PartialRangeFrom: StructuredCollection {
  static var structureName: String { "PartialRangeFrom" }
  static var parts: [any Any.Type] { [Bound.self] }
}

extension PartialRangeThrough: StructuredCollection {
  static var structureName: String { "PartialRangeThrough" }
  static var parts: [any Any.Type] { [Bound.self] }
}

extension PartialRangeUpTo: StructuredCollection {
  static var structureName: String { "PartialRangeUpTo" }
  static var parts: [any Any.Type] { [Bound.self] }
}

/// The parts of a tuple, which the payload of a case with several values is.
private struct TupleParts {
  private static let tupleKind = 0x301

  let labels: [String]
  let types: [any Any.Type]

  init?(_ type: any Any.Type) {
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    let word = MemoryLayout<Int>.size
    guard metadata.load(as: Int.self) == Self.tupleKind else { return nil }
    let count = metadata.load(fromByteOffset: word, as: Int.self)
    let names = metadata.load(fromByteOffset: 2 * word, as: UnsafePointer<CChar>?.self)
    // Separated by spaces, and one after the last.
    let labels =
      names.map { String(cString: $0).split(separator: " ", omittingEmptySubsequences: false) }
      ?? []
    self.labels = (0..<count).map { labels.indices.contains($0) ? String(labels[$0]) : "" }
    types = (0..<count).map {
      // Each is a type and its offset.
      unsafeBitCast(
        metadata.load(fromByteOffset: (3 + 2 * $0) * word, as: Int.self), to: Any.Type.self)
    }
  }
}
