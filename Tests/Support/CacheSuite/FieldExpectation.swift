/// What a test expects of a header field: a name, or a name with what its value is compared with.
package enum FieldExpectation: Sendable, Decodable {
  case named(String)
  case value(FieldTemplate)
  /// The same value as another field of the same message.
  case equalTo(name: String, other: String)
  case above(name: String, bound: Int)

  package init(from decoder: any Decoder) throws {
    if let name = try? decoder.singleValueContainer().decode(String.self) {
      self = .named(name)
      return
    }
    var parts = try decoder.unkeyedContainer()
    guard parts.count == 3 else {
      self = .value(try FieldTemplate(from: decoder))
      return
    }
    let name = try parts.decode(String.self)
    switch try parts.decode(String.self) {
    case "=": self = .equalTo(name: name, other: try parts.decode(String.self))
    case ">": self = .above(name: name, bound: try parts.decode(Int.self))
    case let other:
      throw DecodingError.dataCorruptedError(
        in: parts, debugDescription: "The operator \(other) is unknown; it is = or >.")
    }
  }

  package var name: String {
    switch self {
    case .named(let name), .equalTo(let name, _), .above(let name, _): name
    case .value(let template): template.name
    }
  }
}
