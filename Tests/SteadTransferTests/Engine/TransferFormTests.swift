import Foundation
import SteadPreferences
import SteadRecords
import SteadSecrets
import SteadTransfer
import Testing

/// Each source and each destination as a program writes it.
struct TransferFormTests {
  private let preferences = Preferences.inMemory()
  private let file = URL(filePath: "/tmp/none")

  @Test func `sources are named by what they read`() throws {
    let container = try ModelContainer.records()
    let history = try PayloadHistory<Entry>("entries", limit: 9, in: preferences)
    let names = [
      TransferSource.preference("drafts", of: String.self, in: preferences).name,
      TransferSource.history(history).name,
      TransferSource.preferences(preferences).name,
      TransferSource.userDefaults(file).name,
      try TransferSource.userDefaults(program: "app", variables: ["HOME": "/tmp"]).name,
      TransferSource.propertyList(file, of: Int.self).name,
      TransferSource.json(file, of: Int.self).name,
      TransferSource.csv(file, of: [String: String].self, separator: ";").name,
      try TransferSource.data(of: \NotePhoto.image, in: container).name,
      try TransferSource.coreData(file, schema: container.schema).name,
    ]
    #expect(
      names == [
        "key drafts of memory", "history entries of memory", "preferences of memory",
        "user defaults tmp/none", "user defaults .config/app.plist", "property list tmp/none",
        "JSON tmp/none", "table tmp/none", "NotePhoto.image", "the store /tmp/none",
      ])
    #expect(TransferSource.store(container, of: [NoteDraft.self]).isRemovable)
    #expect(!TransferSource.json(file, of: Int.self).isRemovable)
    #expect(TransferSource.json(file, of: Int.self, removesItems: true).isRemovable)
  }

  @Test func `destinations are named by what they write`() throws {
    let container = try ModelContainer.records()
    let secrets = try Secrets(service: "form", store: InMemorySecretStore())
    let files = try TransferDestination.files(
      in: file, folder: "images", path: \NotePhoto.path, of: container)
    let names = [
      TransferDestination<NoteDraft>.records(container).name,
      TransferDestination.preferences(preferences).name,
      try TransferDestination.secrets(secrets).name,
      files.name,
    ]
    #expect(
      names == [
        "records of NoteDraft", "preferences of memory", "secrets of form",
        "files of NotePhoto.path",
      ])
    #expect(TransferDestination.store(container).name.hasPrefix("records of "))
  }

  @Test func `the conversion tells the types`() throws {
    preferences.set(["one", "two"], forKey: "drafts")
    let container = try ModelContainer.records()
    let transfer = Transfer(
      "drafts", from: .preference("drafts", of: String.self, in: preferences),
      to: .records(container)
    ) { text in NoteDraft(text: text) }
    #expect(try transfer.run().moved == 2)
    #expect(try container.all(NoteDraft.self).map(\.text).sorted() == ["one", "two"])
  }

  private struct Entry: Codable, Identifiable, Sendable { var id: Int }
}
