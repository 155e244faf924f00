import SwiftDiagnostics
import SwiftSyntax

extension VariableDeclSyntax {
  /// The problems of a property of a model.
  var propertyDiagnostics: [Diagnostic] {
    if let misplaced = misplacedAttribute { return [misplaced] }
    guard isStoredInstanceProperty else { return [] }
    if attribute(named: "Transient") != nil { return transientDiagnostics }
    if bindings.count > 1 || bindings.first?.pattern.is(TuplePatternSyntax.self) == true {
      return [says(.severalBindings, fixIts: [splitting].compactMap { $0 })]
    }
    guard let binding = bindings.first,
      let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
    else { return [] }
    let name = pattern.identifier.text.filter { $0 != "`" }
    return [
      modifierDiagnostic(name), tupleDiagnostic(name, binding), wrapperDiagnostic(name),
      relationshipDiagnostic(name, binding), nameDiagnostic(name, pattern),
    ].compactMap { $0 } + optionDiagnostics(name, binding)
  }

  /// An attribute about storage on a property that has none.
  private var misplacedAttribute: Diagnostic? {
    let marks = ["Attribute", "Relationship"].compactMap { attribute(named: $0) }
    let name = bindings.first?.pattern.trimmedDescription ?? ""
    if marks.count == 2 {
      return marks[0].says(
        .contradiction(first: "Attribute", second: "Relationship", property: name),
        fixIts: marks.map { .removing($0) })
    }
    guard let mark = marks.first else { return nil }
    if let transient = attribute(named: "Transient") {
      return mark.says(
        .contradiction(first: mark.plainName, second: "Transient", property: name),
        fixIts: [.removing(mark), .removing(transient)])
    }
    if isStoredInstanceProperty { return nil }
    return mark.says(
      .notStored(attribute: mark.plainName, property: name), fixIts: [.removing(mark)])
  }

  /// An object read from the store gets its unstored properties' initial values.
  private var transientDiagnostics: [Diagnostic] {
    guard !modifiers.contains(where: { $0.name.text == "lazy" }) else { return [] }
    return bindings.compactMap { binding in
      guard binding.initializer == nil, !binding.startsAsNil(constant: isConstant) else {
        return nil
      }
      let position = (binding.typeAnnotation.map(Syntax.init) ?? Syntax(binding.pattern))
        .endPositionBeforeTrailingTrivia
      return binding.says(
        .transientWithoutValue(property: binding.pattern.trimmedDescription),
        fixIts: [.inserting(" = <#initial value#>", at: position, of: self)])
    }
  }

  private var isConstant: Bool { bindingSpecifier.tokenKind == .keyword(.let) }

  private func modifierDiagnostic(_ name: String) -> Diagnostic? {
    for modifier in modifiers {
      let message: ModelMessage
      switch modifier.name.text {
      case "lazy": message = .lazy(property: name)
      case "weak", "unowned":
        message = .reference(modifier: modifier.name.text, property: name)
      default: continue
      }
      return modifier.says(
        message, fixIts: [.removing(modifier), .inserting("@Transient ", at: start, of: self)])
    }
    return nil
  }

  private var start: AbsolutePosition { positionAfterSkippingLeadingTrivia }

  private func tupleDiagnostic(_ name: String, _ binding: PatternBindingSyntax) -> Diagnostic? {
    if let tuple = binding.valueType?.as(TupleTypeSyntax.self), tuple.elements.count > 1 {
      return tuple.says(.tuple(property: name))
    }
    guard binding.typeAnnotation == nil,
      let tuple = binding.initializer?.value.as(TupleExprSyntax.self), tuple.elements.count > 1
    else { return nil }
    return tuple.says(.tuple(property: name))
  }

  private func wrapperDiagnostic(_ name: String) -> Diagnostic? {
    for wrapper in ["Published", "State", "AppStorage", "SceneStorage", "Bindable"] {
      guard let mark = attribute(named: wrapper) else { continue }
      return mark.says(
        .wrapper(attribute: wrapper, property: name),
        fixIts: [.removing(mark), .inserting("@Transient ", at: start, of: self)])
    }
    return nil
  }

  private func relationshipDiagnostic(
    _ name: String, _ binding: PatternBindingSyntax
  ) -> Diagnostic? {
    guard let mark = attribute(named: "Relationship") else { return nil }
    if let type = binding.obviousValueType {
      return mark.says(
        .relationshipOfValue(property: name, type: type), fixIts: [.removing(mark)])
    }
    guard isConstant else { return nil }
    return bindingSpecifier.says(
      .constantRelationship(property: name),
      fixIts: [.replacing(bindingSpecifier, with: "private(set) var")])
  }

  private func nameDiagnostic(_ name: String, _ pattern: IdentifierPatternSyntax) -> Diagnostic? {
    if name.hasPrefix(ReservedNames.prefix) { return pattern.says(.reservedPrefix(property: name)) }
    if name == ReservedNames.module { return pattern.says(.hidesModule) }
    if ReservedNames.reserved.contains(name) { return pattern.says(.reserved(property: name)) }
    if ReservedNames.hidden.contains(name) { return pattern.says(.hidesMember(property: name)) }
    if ReservedNames.refusedByApple.contains(name) {
      return pattern.says(.refusedByApple(property: name))
    }
    return nil
  }

  private func optionDiagnostics(_ name: String, _ binding: PatternBindingSyntax) -> [Diagnostic] {
    guard let mark = attribute(named: "Attribute"), case .argumentList(let options) = mark.arguments
    else { return [] }
    return options.compactMap { option in
      switch option.expression.as(MemberAccessExprSyntax.self)?.declName.baseName.text {
      case "unique" where binding.isArray:
        return option.says(
          .uniqueArray(property: name), fixIts: [mark.removing(option, from: options)])
      case "externalStorage":
        guard let type = binding.obviousValueType, ValueTypes.small.contains(type) else {
          return nil
        }
        return option.says(
          .externalValue(property: name, type: type),
          fixIts: [mark.removing(option, from: options)])
      default: return nil
      }
    }
  }
}
