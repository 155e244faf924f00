import SwiftIfConfig
import SwiftSyntax

extension ClassDeclSyntax {
  /// What `@Model` attaches to a property, so that it gets its slot and its accessors.
  ///
  /// Called for every member of a class, so it only looks at the others to find their positions.
  func attributes(
    for variable: VariableDeclSyntax, configuration: (any BuildConfiguration)?
  ) -> [AttributeSyntax] {
    guard variable.isPersisted, variable.bindingSpecifier.tokenKind != .keyword(.let),
      let property = variable.persistedName
    else { return [] }
    var position = 0
    for member in memberBlock.members.active(in: configuration) {
      guard let other = member.as(VariableDeclSyntax.self), other.isPersisted,
        let name = other.persistedName
      else { continue }
      if name == property {
        let index = ModelDeclaration.index(
          position, in: self.name.text, inherits: inheritanceClause != nil)
        let text =
          "@SteadRecords._PersistedProperty(at: \"\(index)\", of: \"\(self.name.text)\")"
        return [AttributeSyntax(text: text)]
      }
      position += 1
    }
    return []
  }

  /// The extensions that declare the conformances that the class lacks.
  func conformances(
    to protocols: [TypeSyntax], of type: some TypeSyntaxProtocol
  ) -> [ExtensionDeclSyntax] {
    // An extension must not be visible more widely than the class.
    let availability = attributes.compactMap { element -> String? in
      guard case .attribute(let attribute) = element, attribute.plainName == "available" else {
        return nil
      }
      return attribute.trimmedDescription + "\n"
    }.joined()
    let head = "\(availability)nonisolated extension \(type.trimmed): "
    return protocols.compactMap { missing in
      switch missing.plainName {
      case "PersistentModel": "\(head)SteadRecords.PersistentModel"
      case "Sendable":
        """
        @available(*, unavailable, message: "models belong to one context; send persistentModelID")
        \(head)Swift.Sendable
        """
      case "Observable": "\(head)SteadRecords._Observable"
      default: nil
      }
    }.map { (text: String) in ExtensionDeclSyntax(text: text) }
  }
}

extension VariableDeclSyntax {
  /// The name as written.
  var persistedName: String? {
    bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier.text
  }
}
