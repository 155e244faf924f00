import SwiftDiagnostics
import SwiftSyntax

extension MacroExpansionDeclSyntax {
  /// `#Unique` and `#Index` name stored properties of the class that contains them.
  func constraintDiagnostics(
    in model: ClassDeclSyntax, properties: [VariableDeclSyntax]
  ) -> [Diagnostic] {
    guard ModelDeclaration.Constraint(self) != nil else { return [] }
    if let type = foreignType(in: model) {
      return [
        type.says(
          .foreignConstraint(
            macro: macroName.text, type: type.trimmedDescription, model: model.name.text),
          fixIts: [.replacing(type, with: model.name.text)])
      ]
    }
    return misnamed(in: model, properties: properties).map { name, path in
      path.says(.constraintOverOther(macro: macroName.text, property: name))
    }
  }

  /// The key paths that certainly lead to no stored property.
  ///
  /// A name that the class does not declare may be a superclass's, if it has one.
  func misnamed(
    in model: ClassDeclSyntax, properties: [VariableDeclSyntax]
  ) -> [(name: String, path: KeyPathExprSyntax)] {
    guard foreignType(in: model) == nil else { return [] }
    let paths = arguments.flatMap { $0.expression.keyPaths }
    return paths.compactMap { path in
      guard let name = path.firstProperty else { return nil }
      let declared = properties.first { $0.declares(name) }
      let isWrong = declared.map { !$0.isPersisted } ?? (model.inheritanceClause == nil)
      return isWrong ? (name, path) : nil
    }
  }

  private func foreignType(in model: ClassDeclSyntax) -> GenericArgumentSyntax.Argument? {
    guard let type = genericArgumentClause?.arguments.first?.argument,
      TypeSyntax(type)?.plainName != model.name.text
    else { return nil }
    return type
  }
}

extension VariableDeclSyntax {
  fileprivate func declares(_ name: String) -> Bool {
    bindings.contains {
      $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.text.filter { $0 != "`" } == name
    }
  }
}

extension ExprSyntax {
  /// The key paths of `[\.a, \.b]` and of `.rtree([\.a])`.
  fileprivate var keyPaths: [KeyPathExprSyntax] {
    if let array = self.as(ArrayExprSyntax.self) {
      return array.elements.compactMap { $0.expression.as(KeyPathExprSyntax.self) }
    }
    return self.as(FunctionCallExprSyntax.self)?.arguments.flatMap { $0.expression.keyPaths } ?? []
  }
}

extension KeyPathExprSyntax {
  /// `parent` of `\.parent.name`.
  fileprivate var firstProperty: String? {
    components.first?.component.as(KeyPathPropertyComponentSyntax.self)?
      .declName.baseName.text.filter { $0 != "`" }
  }
}
