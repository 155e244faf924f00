import SwiftDiagnostics
import SwiftIfConfig
import SwiftSyntax
import SwiftSyntaxMacros

/// `@ModelActor`: gives an actor its own context and runs it on the context's executor.
///
/// An actor with an initializer of its own, or with stored properties without a value, has to set `modelExecutor` and
/// `modelContainer` itself.
///
/// On any other type it expands to nothing, and reports one diagnostic with a fix-it where a
/// keyword can be replaced.
enum ModelActorMacro {}

extension ModelActorMacro: MemberMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let actor = declaration.as(ActorDeclSyntax.self) else {
      declaration.notAnActor.map(context.diagnose)
      return []
    }
    return ModelActorDeclaration(actor, configuration: context.buildConfiguration).members
  }
}

extension ModelActorMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    // The compiler lists a protocol only if the declaration doesn't conform to it already.
    guard declaration.is(ActorDeclSyntax.self), !protocols.isEmpty else { return [] }
    return [try ExtensionDeclSyntax("extension \(type.trimmed): SteadRecords.ModelActor {}")]
  }
}

extension DeclGroupSyntax {
  /// The diagnostic for a type that is no actor.
  fileprivate var notAnActor: Diagnostic? {
    let (kind, keyword, name): (String, TokenSyntax, TokenSyntax)
    if let type = self.as(ClassDeclSyntax.self) {
      (kind, keyword, name) = ("class", type.classKeyword, type.name)
    } else if let nominal {
      (kind, keyword, name) = nominal
    } else {
      return nil
    }
    return keyword.diagnostic(
      .notAnActor(kind: kind, name: name.text),
      fixIts: kind == "enum" ? [] : [.replacing(keyword, with: "actor")])
  }
}

// MARK: - The declaration

/// What `@ModelActor` has to know of an actor.
struct ModelActorDeclaration {
  /// `public`, `package`, or nothing.
  var access: String
  /// Whether the macro adds `init(modelContainer:)`: the actor has none, and no stored property without a value.
  var needsInitializer: Bool

  /// Reads an actor's declaration.
  init(_ declaration: ActorDeclSyntax, configuration: (any BuildConfiguration)?) {
    let modifiers = declaration.modifiers.map(\.name.text)
    // A witness of a public protocol's requirement must be as visible as the actor. `private` and
    // `fileprivate` are left out: the members are then internal, which inside a private type is no
    // more.
    access =
      ["public", "package"].first { modifiers.contains($0) }.map { "\($0) " } ?? ""
    let members = declaration.memberBlock.members.active(in: configuration)
    let hasOwn = members.contains { member in
      let parameters = member.as(InitializerDeclSyntax.self)?.signature.parameterClause.parameters
      return parameters?.map(\.firstName.text) == ["modelContainer"]
    }
    // An initializer of the macro cannot know what else to store.
    let hasMore = members.contains { member in
      guard let property = member.as(VariableDeclSyntax.self), property.isStoredInstanceProperty
      else { return false }
      let isConstant = property.bindingSpecifier.tokenKind == .keyword(.let)
      return property.bindings.contains {
        $0.initializer == nil && !$0.startsAsNil(constant: isConstant)
      }
    }
    needsInitializer = !hasOwn && !hasMore
  }

  /// The members that the macro adds.
  var members: [DeclSyntax] {
    var members = [
      "nonisolated \(access)let modelExecutor: any SteadRecords.ModelExecutor",
      "nonisolated \(access)let modelContainer: SteadRecords.ModelContainer",
    ]
    if needsInitializer {
      members.append(
        """
        \(access)init(modelContainer: SteadRecords.ModelContainer) {
          let modelContext = SteadRecords.ModelContext(modelContainer)
          self.modelExecutor = SteadRecords.DefaultSerialModelExecutor(modelContext: modelContext)
          self.modelContainer = modelContainer
        }
        """)
    }
    return members.map { "\(raw: $0)" }
  }
}
