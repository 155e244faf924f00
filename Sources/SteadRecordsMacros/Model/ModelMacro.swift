import SwiftIfConfig
import SwiftSyntax
import SwiftSyntaxMacros

/// `@Model`: gives a class the members that make it a `PersistentModel`.
///
/// Each role parses the class into a ``ModelDeclaration`` and writes text. The checks, which report diagnostics, run
/// in one role alone.
///
/// The compiler calls each role on its own, in any order, with the same declaration. So nothing is shared between
/// roles, and each property's index is counted again.
enum ModelMacro {
  // What the macro writes is laid out already.
  static let formatMode = FormatMode.disabled
}

extension ModelMacro: MemberMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    // In this role alone, since each role would report the same.
    declaration.modelDiagnostics(attribute: node, in: context).forEach(context.diagnose)
    guard let model = declaration.as(ClassDeclSyntax.self), model.isModelable else { return [] }
    let declaration = ModelDeclaration(
      model, isRoot: model.isRoot(protocols), configuration: context.buildConfiguration)
    return [DeclSyntax(text: declaration.members.joined(separator: "\n\n"))]
  }
}

extension ModelMacro: MemberAttributeMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingAttributesFor member: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AttributeSyntax] {
    guard let model = declaration.as(ClassDeclSyntax.self), model.isModelable,
      let variable = member.as(VariableDeclSyntax.self)
    else { return [] }
    return model.attributes(for: variable, configuration: context.buildConfiguration)
  }
}

extension ModelMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard let model = declaration.as(ClassDeclSyntax.self), model.isModelable else { return [] }
    return model.conformances(to: protocols, of: type)
  }
}

// MARK: - Attributes and conformances

extension ClassDeclSyntax {
  /// What `@Model` attaches to a property: the macro that gives it its slot and its accessors, with the property's
  /// index.
  ///
  /// Called for every member, so it only looks at the others to count those before it.
  func attributes(
    for variable: VariableDeclSyntax, configuration: (any BuildConfiguration)?
  ) -> [AttributeSyntax] {
    // A `let` cannot have accessors. It has an index, but no slot of its own.
    guard variable.isPersisted, variable.bindingSpecifier.tokenKind != .keyword(.let),
      let property = variable.persistedName
    else { return [] }
    // Indices are given in order of declaration, to persisted properties alone.
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

  /// The extensions that declare the conformances which the class lacks.
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
    // `nonisolated`, since a class on a global actor would isolate the conformances to it.
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
  /// The property's name as written.
  ///
  /// Backticks are part of it. nil for a pattern such as a tuple.
  var persistedName: String? {
    bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier.text
  }
}

// MARK: - Properties

/// `@_PersistedProperty`, which `@Model` attaches: gives a property its slot and its accessors.
enum PersistedPropertyMacro {
  // What the macro writes is laid out already.
  static let formatMode = FormatMode.disabled

  /// The property's index and its class, as generated code spells them.
  private static func arguments(of node: AttributeSyntax) -> (index: String, model: String)? {
    guard case .argumentList(let list) = node.arguments else { return nil }
    let texts = list.compactMap {
      $0.expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue
    }
    // Anything else was written by hand, and the compiler reports the arguments.
    return texts.count == 2 ? (texts[0], texts[1]) : nil
  }
}

extension PersistedPropertyMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let variable = declaration.as(VariableDeclSyntax.self),
      let property = PersistedProperty(variable)
    else { return [] }
    return [DeclSyntax(text: property.storageMembers.joined(separator: "\n\n"))]
  }
}

extension PersistedPropertyMacro: AccessorMacro {
  static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    guard let variable = declaration.as(VariableDeclSyntax.self),
      let property = PersistedProperty(variable), let position = arguments(of: node)
    else { return [] }
    return property.accessors(index: position.index, model: position.model)
      .map(AccessorDeclSyntax.init(text:))
  }
}
