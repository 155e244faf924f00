import Synchronization

/// Objects that a save could not take were dropped with a line on standard error, while `save()`
/// returned.
@Suite("Misuse that nobody heard of") struct MisuseFailureTests {
  private let store: TestStore
  private let context: ModelContext

  init() throws {
    store = try TestStore(Person.self)
    context = store.context()
  }

  /// An object of another context, saved there.
  private func foreigner() throws -> (Person, ModelContext) {
    let other = store.context()
    let person = Person(name: "foreign")
    other.insert(person)
    try other.save()
    return (person, other)
  }

  /// Runs a misuse beside a change that is right: the save throws with words, the change stays
  /// pending and is saved once the misuse is mended.
  private func expectRefusal(
    _ code: SwiftDataError, naming words: [String], _ misuse: (Person) throws -> Void,
    mend: (Person) throws -> Void = { _ in }
  ) throws {
    let ann = Person(name: "Ann")
    context.insert(ann)
    try misuse(ann)
    let error = try refusal(of: context)
    #expect(error == code)
    for word in words { #expect(error.message.contains(word), "\(error.message)") }
    #expect(!error.message.contains("opensesame"))
    #expect(context.insertedModelsArray.contains { $0 === ann })
    try mend(ann)
    try context.save()
    #expect(!context.hasChanges)
    #expect(try store.reopened().all(Person.self).contains { $0.name == "Ann" })
  }

  @Test func `inserting an object of another context`() throws {
    let (person, other) = try foreigner()
    try expectRefusal(.foreignModel, naming: ["Person", "another context", "Fetch it"]) { _ in
      context.insert(person)
    }
    #expect(person.modelContext === other)
  }

  @Test func `deleting an object of another context`() throws {
    let (person, other) = try foreigner()
    try expectRefusal(.foreignModel, naming: ["Person", "another context", "Delete it there"]) {
      _ in context.delete(person)
    }
    #expect(!person.isDeleted)
    #expect(try other.all(Person.self).contains { $0 === person })
  }

  @Test func `linking an object of another context`() throws {
    let (person, _) = try foreigner()
    try expectRefusal(.foreignModel, naming: ["friend", "Person", "another context"]) {
      $0.friend = person
    } mend: {
      $0.friend = nil
    }
  }

  @Test func `appending an object of another context`() throws {
    let (person, _) = try foreigner()
    try expectRefusal(.foreignModel, naming: ["guests", "Person", "another context"]) {
      $0.guests.append(person)
    } mend: {
      $0.guests.removeAll()
    }
    #expect(person.host == nil)
  }

  @Test func `inserting an object outside the schema`() throws {
    let stranger = Stranger(name: "stranger")
    try expectRefusal(.unknownModel, naming: ["Stranger", "schema"]) { _ in
      context.insert(stranger)
    }
    #expect(stranger.modelContext == nil)
  }

  @Test func `linking an object outside the schema`() throws {
    try expectRefusal(.unknownModel, naming: ["friend", "Stranger", "schema"]) {
      $0.friend = Stranger(name: "stranger")
    } mend: {
      $0.friend = nil
    }
  }

  @Test func `appending an object outside the schema`() throws {
    try expectRefusal(.unknownModel, naming: ["guests", "Stranger", "schema"]) {
      $0.guests.append(Stranger(name: "stranger"))
    } mend: {
      $0.guests.removeAll()
    }
  }

  @Test func `linking from an object outside the schema`() throws {
    let stranger = Stranger(name: "stranger")
    try expectRefusal(.unknownModel, naming: ["Stranger", "schema"]) { stranger.host = $0 }
    #expect(stranger.modelContext == nil)
  }

  /// A link that cannot be saved is refused until it is mended, not once.
  @Test func `a link is refused by every save`() throws {
    let (person, _) = try foreigner()
    let ann = Person(name: "Ann")
    context.insert(ann)
    ann.friend = person
    for _ in 0..<3 {
      #expect(throws: SwiftDataError.foreignModel) { try context.save() }
    }
    ann.friend = try context.twin(of: person)
    try context.save()
    #expect(ann.friend?.name == "foreign")
  }

  /// One save names each of several calls that had no effect.
  @Test func `several misuses are all named`() throws {
    let (person, _) = try foreigner()
    context.insert(Stranger(name: "stranger"))
    context.delete(person)
    let error = try refusal(of: context)
    #expect(error.message.contains("Stranger"))
    #expect(error.message.contains("Delete it there"))
    try context.save()
  }

  /// `save()` in an observer of didSave returned without saving.
  @Test func `a save in didSave saves`() throws {
    let observer = try SaveObserver(ModelContext.didSave, of: context)
    context.insert(Person(name: "first"))
    try context.save()
    #expect(observer.error == nil)
    #expect(try store.reopened().all(Person.self).count == 2)
  }

  /// `save()` in an observer of willSave cannot save, and says so.
  @Test func `a save in willSave throws`() throws {
    let observer = try SaveObserver(ModelContext.willSave, of: context)
    context.insert(Person(name: "first"))
    try context.save()
    #expect(observer.error == .saveInProgress)
    #expect(try store.reopened().all(Person.self).count == 2)
  }
}

/// Inserts and saves when it is first notified.
private final class SaveObserver: @unchecked Sendable {
  // Sendable: used on the one thread of its test.
  private(set) var error: SwiftDataError?
  private var isDone = false
  private var token: (any NSObjectProtocol)?

  init(_ name: Notification.Name, of context: ModelContext) throws {
    token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
      [weak self] notification in
      guard let self, !isDone, let context = notification.object as? ModelContext else { return }
      isDone = true
      context.insert(Person(name: "second"))
      do { try context.save() } catch { self.error = error as? SwiftDataError }
    }
  }

  deinit { if let token { NotificationCenter.default.removeObserver(token) } }
}
