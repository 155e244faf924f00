@_spi(Reflection) import Swift

/// Reads the structure of a type from its metadata.
///
/// It runs no code of the type, with two exceptions: types are asked for their coding keys by the start of their
/// `init(from:)`, and a struct that is itself a property's value is decoded from a placeholder, as for predicates.
struct StructureReader {
  /// The greatest number of types within one; deeper ones have their names alone.
  private static let typeLimit = 1_000

  /// The option of classes, whose name the compiler takes for a variable.
  private static let ofClass = _EachFieldOptions(rawValue: 1)

  /// The types that the current one is nested in, outermost first: the path that `.outer` counts back.
  private var outer: [ObjectIdentifier] = []
  /// How many types were taken apart, for the limit.
  private var count = 0

  private static let cache = TypeCache<TypeStructure>()

  /// The structure of a property's type, without its optional.
  static func structure(of type: any Any.Type) -> TypeStructure {
    cache.value(for: ObjectIdentifier(type)) {
      var reader = StructureReader()
      // As `PropertyShape` decides: an app may give arrays a raw value, which the column then holds.
      if let raw = reader.raw(type) { return raw }
      return reader.read(type, asksForKeys: PropertyShape(type).encoding == .composite)
    }
  }

  /// The structure of a type that its column has by its raw value; nil for any other type.
  private func raw(_ type: any Any.Type) -> TypeStructure? {
    // `Date` and the like stay what they are, even if an app makes them `RawRepresentable`.
    guard !(type is any _AttributeValue.Type), let raw = type as? any RawRepresentable.Type else {
      return nil
    }
    return Self.raw(raw)
  }

  private static func raw<R: RawRepresentable>(_ type: R.Type) -> TypeStructure? {
    guard let value = R.RawValue.self as? any _AttributeValue.Type else { return nil }
    let values = EnumCases(type)?.values(of: type)
    return .raw(
      // Sorted: reordering the cases of an enum does not change what its columns mean.
      .named("\(value)"), cases: values.map { $0.map { "\($0.rawValue)" }.sorted() })
  }

  /// The structure of a type within the current one.
  ///
  /// The order of the tests is that of the encodings: what has a column encoding of its own, optionals, collections, raw
  /// values, types of the system. Only then is the type taken apart, after a test for recursion.
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
    // Before the parts are read, so that a part that leads back to this type ends as `.outer`.
    outer.append(ObjectIdentifier(type))
    defer { outer.removeLast() }
    if let cases = EnumCases(type) { return choice(type, cases) }
    return fields(of: type, asksForKeys: asksForKeys)
  }

  /// The structure of an enum with its payloads.
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
    // A case that got another name but kept its key reads the old values; the keys are what JSON
    // has.
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

  /// The structure of a struct or class with its stored properties, and its coding keys if they differ from these.
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
      // Only a difference is recorded. Keys that equal the fields say nothing, and would make two
      // equal structures differ.
      asked != Set(types.map(\.name))
    {
      keys = asked.sorted()
    }
    let fields = types.map { ($0.name, read($0.type, asksForKeys: asksForKeys)) }
    return .fields(Dictionary(fields) { first, _ in first }, keys: keys)
  }

  /// Whether a type is of the system: its coding does not change with the app.
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
  /// The name that a recorded structure has for the type. It must never change.
  static var structureName: String { get }
  /// The types of the elements, or of the bounds.
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
    // A tuple's metadata: kind, number of elements, labels, and for each element its type and its
    // offset, each of a word.
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

// MARK: - Cases of enums

/// The cases of an enum, read from its metadata, whose layout is part of Swift's stable ABI.
///
/// The compiler can be asked to leave names out of it; there are none then.
struct EnumCases {
  /// One case, by its name in the source.
  struct Case {
    let name: String
    /// nil for a case without payload.
    let payload: (any Any.Type)?
  }

  private static let enumKind = 0x201
  private static let caseLimit = 1 << 16

  /// In the order of their numbers in memory: those with a payload first.
  let cases: [Case]

  /// nil for a type that isn't an enum, and for one whose cases are not known.
  init?(_ type: any Any.Type) {
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    // An enum of C has its raw value in memory, not the number of its case.
    guard metadata.load(as: Int.self) == Self.enumKind,
      !_typeName(type, qualified: true).hasPrefix("__C.")
    else { return nil }
    let word = MemoryLayout<Int>.size
    let descriptor = metadata.load(fromByteOffset: word, as: UnsafeRawPointer.self)
    // A context descriptor: flags, parent, name and access function are 4 bytes each, and the field descriptor follows.
    guard let fields = Self.follow(descriptor + 16) else { return nil }
    // A field descriptor: type name, superclass, kind (2 bytes), size of a record (2 bytes), number of records; 16 bytes.
    let size = Int(fields.load(fromByteOffset: 10, as: UInt16.self))
    let count = Int(fields.load(fromByteOffset: 12, as: UInt32.self))
    // A record of another size than this code knows, or a count out of range: better no names than
    // memory that is no record.
    guard size >= 12, count <= Self.caseLimit else { return nil }
    cases = (0..<count).compactMap { index in
      let record = fields + 16 + index * size
      // A field record: flags, mangled type name, name. Cases with a payload come first, as in the numbering of cases.
      guard let name = Self.follow(record + 8) else { return nil }
      let payload = Self.follow(record + 4).flatMap {
        Self.type(named: $0, descriptor, arguments: metadata + 2 * word)
      }
      return Case(
        name: String(cString: name.assumingMemoryBound(to: CChar.self)),
        payload: Self.follow(record + 4) == nil ? nil : payload ?? Any.self)
    }
    guard cases.count == count else { return nil }
  }

  /// Follows a relative pointer: an offset from its own address, 0 for null.
  private static func follow(_ address: UnsafeRawPointer) -> UnsafeRawPointer? {
    // Relative, so that the metadata needs no relocation when the program is loaded.
    let offset = address.loadUnaligned(as: Int32.self)
    return offset == 0 ? nil : address + Int(offset)
  }

  /// The type of a mangled name, whose symbolic references the runtime resolves in the enum's context.
  private static func type(
    named name: UnsafeRawPointer, _ context: UnsafeRawPointer, arguments: UnsafeRawPointer
  ) -> (any Any.Type)? {
    var length = 0
    while true {
      switch name.load(fromByteOffset: length, as: UInt8.self) {
      case 0:
        return _getTypeByMangledNameInContext(
          name.assumingMemoryBound(to: UInt8.self), UInt(length), genericContext: context,
          genericArguments: arguments)
      // Symbolic references: a control byte, then a relative address of four bytes or an absolute one of a word.
      case 0x01...0x17: length += 5
      case 0x18...0x1F: length += 1 + MemoryLayout<Int>.size
      default: length += 1
      }
    }
  }

  /// All values of an enum whose cases have no payload: the number of a case is what is in memory.
  func values<T>(of type: T.Type) -> [T]? {
    guard !cases.isEmpty, cases.allSatisfy({ $0.payload == nil }) else { return nil }
    // The runtime gives an enum without payloads the smallest integer that counts its cases.
    switch MemoryLayout<T>.size {
    case 0 where cases.count == 1: return [unsafeBitCast((), to: T.self)]
    case 1 where cases.count <= 1 << 8:
      return cases.indices.map { unsafeBitCast(UInt8($0), to: T.self) }
    case 2 where cases.count <= Self.caseLimit:
      return cases.indices.map { unsafeBitCast(UInt16($0), to: T.self) }
    default: return nil
    }
  }
}
