/// A class, structure, enumeration, actor or extension.
struct TypeFact: Codable, Sendable {
  enum Kind: String, Codable { case `class`, `struct`, `enum`, actor, `extension` }

  /// With the types around it: `SchemaV1.Item`.
  let name: String
  let kind: Kind
  let attributes: [String]
  let inherited: [String]
  let properties: [PropertyFact]
  let cases: [String]
  /// `#Unique` and other macros among its members.
  let macros: [String]
  /// Whether it has its own `init(from:)`, which decides what an absent field means.
  let decodesItself: Bool
  /// Whether that `init(from:)` uses a default for each field that it can't decode.
  let decodesLeniently: Bool
  /// Whether its `init?(rawValue:)` accepts any string, and so never discards what is stored.
  let takesAnyRawValue: Bool
  /// Whether it's `@unchecked Sendable`.
  let uncheckedSendable: Bool
  let place: Place

  var isModel: Bool { attributes.contains("Model") }
}
