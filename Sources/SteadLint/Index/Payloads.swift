/// The Codable types that a project keeps, with their fields: what later versions of the program have to decode.
struct Payloads: Sendable {
  /// The encoded fields of each type, by the type's full name.
  let fields: [String: Set<String>]
  private let required: [String: [PropertyFact]]

  init(_ index: ProjectIndex) {
    var fields: [String: Set<String>] = [:]
    var required: [String: [PropertyFact]] = [:]
    var open = Self.roots(in: index)
    while let (name, scope) = open.popLast() {
      let declarations = index.declarations(of: name, in: scope)
      guard let full = declarations.first?.name, fields[full] == nil, Self.isPayload(declarations)
      else { continue }
      let keys = index.declarations(of: "CodingKeys", in: full).first {
        $0.name == full + ".CodingKeys"
      }?.cases
      let encoded = declarations.flatMap(\.properties).filter { Self.isEncoded($0, keys: keys) }
      fields[full] = Set(encoded.map(\.name))
      if !declarations.contains(where: \.decodesItself) {
        required[full] = encoded.filter { $0.type?.isOptionalType != true }
      }
      open += encoded.compactMap { property in property.type.map { ($0.payloadType, full) } }
    }
    self.fields = fields
    self.required = required
  }

  /// The fields that decoding requires, and that earlier values lack.
  func additions(since earlier: [String: Set<String>]) -> [(type: String, field: PropertyFact)] {
    earlier.sorted { $0.key < $1.key }.flatMap { name, known in
      (required[name] ?? []).filter { !known.contains($0.name) }.map { (name, $0) }
    }
  }

  /// The types that are encoded to, or decoded from, a place that outlives the program.
  private static func roots(in index: ProjectIndex) -> [(String, String)] {
    let coded = index.codings.compactMap { use -> (String, String)? in
      guard index.isShipped(use.place), isKept(use.target) else { return nil }
      let type = use.type ?? use.property.flatMap { index.type(of: $0, in: use.scopeType) }
      return type.map { ($0.payloadType, use.scopeType) }
    }
    let stored = index.models.flatMap { model in
      model.properties.filter(\.isStored).compactMap { property in
        property.type.map { ($0.payloadType, model.name) }
      }
    }
    return coded + stored
  }

  private static func isKept(_ target: CodingUse.Target) -> Bool {
    switch target {
    case .preference, .file, .cloud: true
    case .secret, .unknown: false
    }
  }

  private static func isPayload(_ declarations: [TypeFact]) -> Bool {
    declarations.contains { [.struct, .class].contains($0.kind) && !$0.isModel }
      && declarations.contains { !Set($0.inherited).isDisjoint(with: ["Codable", "Decodable"]) }
  }

  private static func isEncoded(_ property: PropertyFact, keys: [String]?) -> Bool {
    guard !property.isStatic, !property.isComputed, keys?.contains(property.name) != false else {
      return false
    }
    // A constant with a value isn't decoded.
    return !(property.isConstant && property.defaultValue != nil)
  }
}
