import SwiftSyntax

extension [VariableDeclSyntax] {
  /// The stored properties without a column; nil when one of them has a form that cannot be filled in.
  var unstored: [ModelDeclaration.UnstoredProperty]? {
    var result: [ModelDeclaration.UnstoredProperty] = []
    for variable in self where variable.isStoredInstanceProperty && !variable.isPersisted {
      guard let property = variable.unstored else { return nil }
      result.append(property)
    }
    return result
  }
}

extension VariableDeclSyntax {
  private static let harmlessAttributes: Set = ["Transient", "ObservationIgnored", "available"]

  /// A plain variable: no constant, observer, wrapper, `lazy` or `weak`, all of which store otherwise.
  fileprivate var unstored: ModelDeclaration.UnstoredProperty? {
    guard bindings.count == 1, let binding = bindings.first, binding.accessorBlock == nil,
      let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text,
      bindingSpecifier.tokenKind == .keyword(.var), attributes.allSatisfy(Self.isHarmless),
      !modifiers.contains(where: { ["lazy", "weak", "unowned"].contains($0.name.text) })
    else { return nil }
    guard let value = binding.initializer?.value.trimmedDescription else {
      return binding.startsAsNil(constant: false) ? .init(name: name, initialValue: "nil") : nil
    }
    return .init(name: name, initialValue: value)
  }

  private static func isHarmless(_ element: AttributeListSyntax.Element) -> Bool {
    guard case .attribute(let attribute) = element else { return false }
    return harmlessAttributes.contains(attribute.plainName)
  }
}

extension ExprSyntax {
  /// Whether the value costs nothing to make.
  var isLiteral: Bool {
    switch kind {
    case .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr, .nilLiteralExpr: return true
    case .stringLiteralExpr: return self.cast(StringLiteralExprSyntax.self).segments.count <= 1
    case .arrayExpr: return self.cast(ArrayExprSyntax.self).elements.isEmpty
    case .dictionaryExpr:
      if case .colon = self.cast(DictionaryExprSyntax.self).content { return true }
      return false
    case .prefixOperatorExpr: return self.cast(PrefixOperatorExprSyntax.self).expression.isLiteral
    default: return false
    }
  }
}
