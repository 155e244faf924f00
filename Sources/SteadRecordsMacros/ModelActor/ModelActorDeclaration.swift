import SwiftSyntax

/// What `@ModelActor` knows of an actor.
struct ModelActorDeclaration {
  /// `public`, `package`, or nothing.
  var access: String
  /// Whether the actor declares `init(modelContainer:)` itself.
  var hasContainerInitializer: Bool

  init(_ declaration: ActorDeclSyntax) {
    let modifiers = declaration.modifiers.map(\.name.text)
    access =
      ["public", "package"].first { modifiers.contains($0) }.map { "\($0) " } ?? ""
    hasContainerInitializer = declaration.memberBlock.members.contains { member in
      let parameters = member.decl.as(InitializerDeclSyntax.self)?.signature.parameterClause
      return parameters?.parameters.map(\.firstName.text) == ["modelContainer"]
    }
  }

  var members: [DeclSyntax] {
    var members = [
      "nonisolated \(access)let modelExecutor: any SteadRecords.ModelExecutor",
      "nonisolated \(access)let modelContainer: SteadRecords.ModelContainer",
    ]
    if !hasContainerInitializer {
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
