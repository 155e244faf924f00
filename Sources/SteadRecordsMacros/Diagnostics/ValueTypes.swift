import SwiftSyntax

/// Types of the standard library and Foundation that are certainly values, never models.
enum ValueTypes {
  /// The types whose values fit in a column at any reasonable length.
  static let small: Set = [
    "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
    "Float", "Double", "CGFloat", "Decimal", "Date", "UUID", "TimeInterval",
  ]

  static let all = small.union(["String", "Substring", "Character", "Data", "URL"])
}

extension PatternBindingSyntax {
  /// The declared type without optionality.
  var valueType: TypeSyntax? {
    guard let type = typeAnnotation?.type else { return nil }
    return type.as(OptionalTypeSyntax.self)?.wrappedType
      ?? type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self)?.wrappedType ?? type
  }

  /// The name of the type, or of an array's element, when it is certainly no model.
  var obviousValueType: String? {
    guard let valueType else { return literalType ?? calledType }
    let element = valueType.as(ArrayTypeSyntax.self)?.element ?? valueType
    guard ValueTypes.all.contains(element.plainName) else { return nil }
    return valueType.trimmedDescription
  }

  private var literalType: String? {
    switch initializer?.value.kind {
    case .stringLiteralExpr: "String"
    case .integerLiteralExpr: "Int"
    case .floatLiteralExpr: "Double"
    case .booleanLiteralExpr: "Bool"
    default: nil
    }
  }

  /// `Date` of `Date()`.
  private var calledType: String? {
    let called = initializer?.value.as(FunctionCallExprSyntax.self)?.calledExpression
    guard let name = called?.as(DeclReferenceExprSyntax.self)?.baseName.text,
      ValueTypes.all.contains(name)
    else { return nil }
    return name
  }

  var isArray: Bool {
    valueType?.is(ArrayTypeSyntax.self) ?? initializer?.value.is(ArrayExprSyntax.self) ?? false
  }

  /// Whether the property is nil before anything is assigned.
  func startsAsNil(constant: Bool) -> Bool {
    guard !constant, let type = typeAnnotation?.type else { return false }
    return type.is(OptionalTypeSyntax.self) || type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
  }
}
