import SwiftSyntax
import SwiftSyntaxBuilder

extension ModelDeclaration {
  /// What `@Model` attaches to a property, so that it gets its slot and its accessors.
  func attributes(for property: PersistedProperty) -> [AttributeSyntax] {
    guard !property.isConstant,
      let position = properties.firstIndex(where: { $0.name == property.name })
    else { return [] }
    return [
      "@SteadRecords._PersistedProperty(at: \(literal: index(position)), of: \(literal: name))"
    ]
  }
}

extension ClassDeclSyntax {
  /// The extensions that declare the conformances which the class lacks.
  func conformances(
    to protocols: [TypeSyntax], of type: some TypeSyntaxProtocol
  ) throws -> [ExtensionDeclSyntax] {
    // An extension must not be visible more widely than the class.
    let availability = attributes.compactMap { element -> String? in
      guard case .attribute(let attribute) = element, attribute.plainName == "available" else {
        return nil
      }
      return attribute.trimmedDescription + "\n"
    }.joined()
    return try protocols.compactMap { missing in
      switch missing.plainName {
      case "PersistentModel":
        "\(availability)nonisolated extension \(type.trimmed): SteadRecords.PersistentModel {}"
      case "Sendable":
        """
        @available(*, unavailable, message: "models belong to one context; send persistentModelID")
        \(availability)nonisolated extension \(type.trimmed): Swift.Sendable {}
        """
      case "Observable":
        "\(availability)nonisolated extension \(type.trimmed): SteadRecords._Observable {}"
      default: nil
      }
    }.map { (text: String) in try ExtensionDeclSyntax("\(raw: text)") }
  }
}
