import Foundation
import SteadPreferences
import SteadSecrets
import SwiftData
import Testing

@testable import SteadTransfer

/// Items whose places in the destination are taken.
@Suite struct TransferConflictTests {
  private let leaving = TransferOptions(conflicts: .leave)
  private let preferences = Preferences.inMemory("org.example.conflicts")

  private func put(_ texts: String...) { preferences.set(texts, forKey: "labels") }

  private func labels(
    _ container: ModelContainer, _ options: TransferOptions = TransferOptions()
  ) -> Transfer<String, NoteLabel> {
    Transfer(
      "labels", from: .preference("labels", of: String.self, in: preferences),
      to: .records(container), options: options
    ) { NoteLabel($0) }
  }

  private func names(_ container: ModelContainer) throws -> [String] {
    try ModelContext(container).fetch(FetchDescriptor<NoteLabel>()).map(\.title).sorted()
  }

  /// Once a preview said 3, each run threw, and the error named "object 2".
  @Test func `a value that comes twice is found before and named by its place`() throws {
    let container = try memoryContainer(NoteLabel.self, NoteDraft.self)
    put("a", "b", "a")
    let preview = try labels(container).preview()
    #expect(preview.moved == 0 && preview.failures.map(\.item) == ["labels[2]"])
    let error = try transferError { try labels(container).run() }
    #expect(error.code == .conflict && error.failures.map(\.item) == ["labels[2]"])
    #expect(try names(container).isEmpty)
    #expect(preferences.stringArray(forKey: "labels") == ["a", "b", "a"])
  }

  @Test func `what is taken is left behind when told`() throws {
    let container = try memoryContainer(NoteLabel.self, NoteDraft.self)
    put("a", "b", "a", "c")
    let preview = try labels(container, leaving).preview()
    #expect(preview.moved == 3 && preview.failures.map(\.item) == ["labels[2]"])
    #expect(try names(container).isEmpty)
    let report = try labels(container, leaving).run()
    #expect((report.moved, report.removed, report.left) == (3, 3, 1))
    #expect(report.failures.map(\.item) == ["labels[2]"] && report.outcome == .partial)
    #expect(try names(container) == ["a", "b", "c"])
    #expect(preferences.stringArray(forKey: "labels") == ["a"])
  }

  @Test func `a record that is there stays as it is`() throws {
    let container = try memoryContainer(NoteLabel.self, NoteDraft.self)
    let context = ModelContext(container)
    context.insert(NoteLabel("x"))
    try context.save()
    put("x", "y")
    let report = try labels(container, leaving).run()
    #expect(report.moved == 1 && report.failures.map(\.item) == ["labels[0]"])
    // The record goes, and the item comes over.
    try context.delete(model: NoteLabel.self, where: #Predicate { $0.title == "x" })
    try context.save()
    #expect(try labels(container, leaving).run().moved == 1)
    #expect(try names(container) == ["x", "y"])
    put("y")
    #expect(try labels(container, leaving).run().outcome == .nothingToDo)
  }

  @Test func `where all are taken, nothing is written`() throws {
    let destination = Preferences.inMemory("org.example.taken")
    destination.set("other", forKey: "one")
    put("one", "one")
    let transfer = Transfer(
      "keys", from: .preference("labels", of: String.self, in: preferences),
      to: .preferences(destination), options: leaving
    ) { PreferenceEntry(key: $0, value: .string($0)) }
    let report = try transfer.run()
    #expect(report.moved == 0 && report.failures.map(\.item) == ["labels[0]", "labels[1]"])
    #expect(destination.keys == ["one"] && destination.string(forKey: "one") == "other")
    #expect(preferences.stringArray(forKey: "labels") == ["one", "one"])
    #expect(report.failures.allSatisfy { $0.reason.hasPrefix("key one: ") })
  }

  @Test func `an account that has a secret is left`() throws {
    let secrets = try Secrets(service: "org.example.mail", store: InMemorySecretStore())
    try secrets.set("old", for: "ada")
    put("ada", "carl")
    let transfer = Transfer(
      "tokens", from: .preference("labels", of: String.self, in: preferences),
      to: try .secrets(secrets), options: leaving
    ) { SecretEntry(account: $0, secret: "token of \($0)") }
    #expect(try transfer.preview().moved == 1)
    let report = try transfer.run()
    #expect(report.moved == 1 && report.failures.map(\.item) == ["labels[0]"])
    #expect(try secrets.string(for: "ada") == "old")
    #expect(try secrets.string(for: "carl") == "token of carl")
  }
}
