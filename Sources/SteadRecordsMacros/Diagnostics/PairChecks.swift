import SwiftDiagnostics
import SwiftSyntax

extension [VariableDeclSyntax] {
  /// Relationships of a class to itself that name each other.
  ///
  /// Of two classes a macro sees one only; there the compiler reports a circular reference.
  func inverseDiagnostics(in model: ClassDeclSyntax) -> [Diagnostic] {
    let inverses = compactMap { property -> (name: String, inverse: String, argument: Argument)? in
      guard let name = property.bindings.first?.pattern.trimmedDescription,
        let argument = property.inverseArgument,
        let inverse = argument.expression.as(KeyPathExprSyntax.self)?.property(of: model.name.text)
      else { return nil }
      return (name, inverse, argument)
    }
    return inverses.enumerated().compactMap { position, second in
      guard let first = inverses[..<position].first(where: { $0.name == second.inverse }),
        first.inverse == second.name, let list = second.argument.list,
        let mark = list.parent?.as(AttributeSyntax.self)
      else { return nil }
      return second.argument.says(
        .inverseOnBothSides(first: first.name, second: second.name),
        fixIts: [mark.removing(second.argument, from: list)])
    }
  }

  typealias Argument = LabeledExprSyntax
}

extension VariableDeclSyntax {
  fileprivate var inverseArgument: LabeledExprSyntax? {
    guard case .argumentList(let list) = attribute(named: "Relationship")?.arguments else {
      return nil
    }
    return list.first { $0.label?.text == "inverse" }
  }
}

extension LabeledExprSyntax {
  fileprivate var list: LabeledExprListSyntax? { parent?.as(LabeledExprListSyntax.self) }
}

extension KeyPathExprSyntax {
  /// `parent` of `\Node.parent`, when the root is the named type.
  fileprivate func property(of type: String) -> String? {
    guard root?.trimmedDescription == type, components.count == 1 else { return nil }
    return components.first?.component.as(KeyPathPropertyComponentSyntax.self)?
      .declName.baseName.text
  }
}

extension AttributeSyntax {
  /// Removes an argument; with the last one, the whole attribute.
  func removing(_ argument: LabeledExprSyntax, from list: LabeledExprListSyntax) -> FixIt {
    if list.count > 1 || plainName == "Relationship" { return .removing(argument, from: list) }
    return .removing(self)
  }
}
