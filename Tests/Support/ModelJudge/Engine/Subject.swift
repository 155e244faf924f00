import Foundation
import SteadTestSupport
import SwiftData

/// The engine that is judged: real containers and contexts, driven by calls.
public final class Subject {
  let profile: Profile
  let url: URL?
  private let directory: TemporaryDirectory?
  var containers: [ModelContainer] = []
  var contexts: [ModelContext] = []
  /// Swift's references to objects, by context and by the reference's name for them.
  var objects: [[Int: any Numbered]] = []
  var identifiers: [Int: PersistentIdentifier] = [:]

  /// Opens a store of the profile's, or the store in a file.
  public init(_ profile: Profile, at file: URL? = nil) throws {
    self.profile = profile
    directory = file == nil && profile.isOnFile ? try TemporaryDirectory(inMemory: true) : nil
    url = file ?? directory?.file("judged.store")
    try open()
  }

  func open() throws {
    (contexts, containers, objects) = ([], [], [])
    containers = [try makeContainer()]
    for index in 0..<profile.contextCount {
      if index > 0, profile == .twoContainers { containers.append(try makeContainer()) }
      contexts.append(try makeContext(index))
      objects.append([:])
    }
  }

  func makeContainer() throws -> ModelContainer {
    let schema = Schema(profile.kinds.map { Self.type(of: $0) })
    if profile.isJSON, let url {
      return try ModelContainer(
        for: schema, configurations: [JSONStoreConfiguration(url: url)])
    }
    let configuration =
      url.map { ModelConfiguration(url: $0) } ?? ModelConfiguration(isStoredInMemoryOnly: true)
    return try ModelContainer(for: schema, configurations: configuration)
  }

  private func makeContext(_ index: Int) throws -> ModelContext {
    let context = ModelContext(containers[index % containers.count])
    if profile.hasUndo { context.undoManager = UndoManager() }
    return context
  }

  /// An object of a context, looked up by its identifier when no reference to it is held.
  func object(_ context: Int, _ number: Int) throws -> any Numbered {
    if let object = objects[context][number] { return object }
    guard let identifier = identifiers[number] else {
      throw Mismatch("o\(number) was never seen in the store")
    }
    guard let object = contexts[context].model(for: identifier) as? any Numbered else {
      throw Mismatch("model(for:) of o\(number) is of another class")
    }
    // A rule deleted it while the sequence held no reference to it.
    if object.modelContext == nil { throw Unspecified(reason: "o\(number) is held by nobody") }
    objects[context][number] = object
    return object
  }

  /// Keeps the identifiers that objects got by a save.
  func learnIdentifiers(_ context: Int, _ numbers: some Sequence<Int>) {
    for number in numbers {
      if let object = objects[context][number] { identifiers[number] = object.persistentModelID }
    }
  }

  // MARK: Calls

  /// Does what a call says; throws `Mismatch` when the engine answers otherwise than the reference.
  public func perform(_ call: Call) throws {
    switch call {
    case .create(let context, let number, let kind, let score, let name):
      let object = Self.make(kind, number, score)
      if let name { AttributeAccess.of(kind)[kind.uniqueKeys[0][0]].set(object, name) }
      objects[context][number] = object
    case .insert(let context, let number): insert(try object(context, number), context)
    case .insertAgain(let context, let number, let name):
      objects[context][name] = try object(context, number)
      objects[context][number] = nil
      insert(try object(context, name), context)
    case .setOne(let context, let number, let link, let target):
      let target = try target.map { try object(context, $0) }
      LinkAccess.of(link).setOne(try object(context, number), target)
    case .edit(let context, let number, let link, let edit):
      try LinkAccess.of(link).edit(try object(context, number), edit) { number in
        try self.object(context, number)
      }
    case .set(let context, let number, let attribute, let value):
      let object = try object(context, number)
      AttributeAccess.of(Self.kind(of: object))[attribute].set(object, value)
    case .delete(let context, let number): delete(try object(context, number), context)
    case .drop(let context, let numbers):
      // Objects that stand for others' rows go, too: nothing is known of them from here on.
      for number in numbers {
        // Another process has nobody who asks it for identifiers after each save.
        if identifiers[number] == nil, let object = objects[context][number],
          object.persistentModelID.storeIdentifier != nil
        {
          identifiers[number] = object.persistentModelID
        }
        objects[context][number] = nil
      }
    default: try performOnStore(call)
    }
  }

  private func performOnStore(_ call: Call) throws {
    switch call {
    case .deleteWhere(let context, let kind, let minimum, let errors):
      try expect(errors) { try self.deleteAll(kind, minimum, contexts[context]) }
    case .save(let context, let errors): try expect(errors) { try contexts[context].save() }
    case .transaction(let context, let errors):
      try expect(errors) { try contexts[context].transaction {} }
    case .rollback(let context): contexts[context].rollback()
    case .process(let context): contexts[context].processPendingChanges()
    case .fetch(let context, let kind, let query, let numbers):
      let found = try fetch(kind, query, contexts[context])
      if found != numbers { throw Mismatch("fetch: expected \(numbers), got \(found)") }
    case .count(let context, let kind, let query, let number):
      let found = try count(kind, query, contexts[context])
      if found != number { throw Mismatch("fetchCount: expected \(number), got \(found)") }
    case .read(let context, let number, let link, let numbers):
      let found = LinkAccess.of(link).targets(try object(context, number)).map(\.number)
      if found != numbers {
        throw Mismatch("o\(number).\(link): expected \(numbers), got \(found)")
      }
    case .beginGroup(let context): contexts[context].undoManager?.beginUndoGrouping()
    case .endGroup(let context): contexts[context].undoManager?.endUndoGrouping()
    case .undo(let context): contexts[context].undoManager?.undo()
    case .redo(let context): contexts[context].undoManager?.redo()
    case .removeAllActions(let context): contexts[context].undoManager?.removeAllActions()
    case .newContext(let context):
      contexts[context] = try makeContext(context)
      objects[context] = [:]
    case .reopen: try open()
    case .worker(let calls, let kill): try runWorker(calls, killAfter: kill)
    default: break
    }
  }

  /// Checks that a call throws one of the errors, or none when there are none.
  private func expect(_ errors: [String], _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as SwiftDataError {
      let name =
        switch error {
        case .deletionDenied: "denied"
        // A message of SQLite's doesn't name the rows whose keys are in the way.
        case .modelValidationFailure where !"\(error)".contains("The store refused a row"):
          "invalid"
        default: "\(error)"
        }
      if errors.contains(name) { return }
      let expected = errors.isEmpty ? "no error" : errors.joined(separator: " or ")
      throw Mismatch("errors: expected \(expected), got \(error)")
    }
    if !errors.isEmpty {
      throw Mismatch("errors: expected \(errors.joined(separator: " or ")), got none")
    }
  }
}
