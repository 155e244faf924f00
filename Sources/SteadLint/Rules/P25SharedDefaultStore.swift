import SwiftSyntax

private let flaw = RuleID(id: "P25", name: "shared-default-store", level: .warning)

extension Rule {
  static let sharedDefaultStore = Rule(
    flaw,
    summary:
      "A store or a context is shared where it must not be: with another program, another schema, another actor.",
    why: """
      Without a sandbox, `default.store` is in the user's Application Support, where every program that names no \
      store opens and migrates the same file. Two containers with different models on one store drop each other's \
      tables. Contexts and models belong to the actor that made them. On another actor they are changed while they \
      are read.
      """,
    bad: """
      @Environment(\\.modelContext) private var modelContext
      func clean() {
        Task.detached {
          try? modelContext.delete(model: Note.self)
        }
      }
      """,
    good: """
      @ModelActor actor Cleaner {
        func clean() throws { try modelContext.delete(model: Note.self); try modelContext.save() }
      }
      """,
    avoids: [
      "Contexts that the closure makes itself, or that it uses on the main actor.",
      "Containers with a `url`, a name or a group, and those in memory.",
      "Apps in a sandbox, and packages without an executable target.",
    ],
    inFile: { file in
      CrossingReader(context: file, variables: VariableTypes(file.walk)).crossings().map {
        crossing in
        Finding(
          flaw,
          "`\(crossing.call)` uses a context of another actor; create one there from the container, and pass identifiers.",
          at: file.place(crossing.name))
      }
    },
    inProject: { index in
      unsandboxed(in: index) + differing(in: index) + sendableModels(in: index)
    })
}

/// The containers that open `default.store`: neither they nor a configuration names another place.
private func onDefaultStore(in index: ProjectIndex) -> [ContainerFact] {
  let all = index.files.flatMap(\.containers).filter { index.isShipped($0.place) }
  // A configuration may be made elsewhere and passed on, so one with a place counts for every container.
  guard !all.contains(where: { $0.kind == .configuration && $0.hasPlace }) else { return [] }
  return all.filter { $0.kind == .container && !$0.isInMemory }
}

private func unsandboxed(in index: ProjectIndex) -> [Finding] {
  onDefaultStore(in: index).filter { container in
    index.settings.isUnsandboxed
      || (!index.settings.isAppleApp && index.isInExecutable(container.place.path))
  }.map { container in
    Finding(
      flaw,
      "Without a sandbox, every program that names no store shares this `default.store`; give the configuration a `url`.",
      at: container.place)
  }
}

/// Containers of one program with different models on one store.
private func differing(in index: ProjectIndex) -> [Finding] {
  let containers = onDefaultStore(in: index).filter { !$0.models.isEmpty && $0.plan == nil }
  guard let first = containers.min(by: { $0.place.precedes($1.place) }) else { return [] }
  return containers.filter { Set($0.models) != Set(first.models) }.map { container in
    Finding(
      flaw,
      "This container has different models from the one on line \(first.place.line) of \(first.place.path), on the same "
        + "store; give it a `url`.",
      at: container.place)
  }
}

private func sendableModels(in index: ProjectIndex) -> [Finding] {
  index.files.flatMap(\.types).compactMap { type in
    guard type.uncheckedSendable else { return nil }
    let base = type.name.lastComponent
    guard
      type.isModel || base == "ModelContext"
        || (type.kind == .extension && index.model(type.name) != nil)
    else {
      return nil
    }
    return Finding(
      flaw,
      "`\(base)` belongs to the actor that made it; pass its `persistentModelID` instead.",
      at: type.place)
  }
}
