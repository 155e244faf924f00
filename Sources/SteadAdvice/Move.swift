/// A verified, one-time move of data from one store to another.
///
/// Run the code at each start of the program. Once all data has moved, it does nothing.
///
/// ```swift
/// if let move = Move.between(.preferences, .secrets) { print(move.declaration) }
/// ```
///
/// It is a text to copy and to adapt: the names of keys, models and files in it are examples. The
/// tests' target `AdviceDeclarations` has the same text, so it compiles.
public struct Move: Hashable, Codable, Sendable {
  /// The store that the data is in today.
  public let from: Store
  /// The store that the data belongs in.
  public let to: Store
  /// Swift code that moves the data: a complete file that compiles.
  public let declaration: String

  /// All known moves, each pair of stores once.
  public static let all: [Move] = [
    Move(from: .preferences, to: .secrets, declaration: preferencesToSecrets),
    Move(from: .preferences, to: .payloadHistory, declaration: preferencesToHistory),
    Move(from: .preferences, to: .records, declaration: preferencesToRecords),
    Move(from: .preferences, to: .file, declaration: preferencesToFile),
    Move(from: .payloadHistory, to: .records, declaration: historyToRecords),
    Move(from: .file, to: .records, declaration: fileToRecords),
    Move(from: .recordsWithFiles, to: .file, declaration: recordsToFiles),
    Move(from: .coreData, to: .records, declaration: coreDataToRecords),
  ]

  /// The move between two stores; nil if none is known, or if none is needed.
  ///
  /// A move into records also serves for records with files.
  public static func between(_ from: Store, _ to: Store) -> Move? {
    all.first { $0.from == from && $0.to == to }
      // The move is into a model either way. External storage is an attribute of its property.
      ?? (to == .recordsWithFiles ? between(from, .records) : nil)
  }
}

extension Move {
  /// A token under one key of the preferences becomes a secret.
  private static let preferencesToSecrets = """
    import SteadPreferences
    import SteadSecrets
    import SteadTransfer

    func moveToken() throws {
      let secrets = try Secrets(service: "org.example.Notes")
      let transfer = Transfer(
        "token", from: .preference("access_token", of: String.self), to: try .secrets(secrets)
      ) { token in SecretEntry(account: "token", secret: token) }
      try transfer.run()
    }
    """

  /// A JSON array under a key becomes a history under the same key, which needs no transfer.
  private static let preferencesToHistory = """
    import Foundation
    import SteadPreferences

    struct Search: Codable, Identifiable, Sendable {
      var id: UUID
      var words: String
    }

    // Opening the history takes over the JSON array that the app has kept under its key.
    func openSearches() throws -> PayloadHistory<Search> {
      try PayloadHistory<Search>("recent_searches", limit: 500)
    }
    """

  /// A list of strings becomes objects of a model.
  private static let preferencesToRecords = """
    import SteadPreferences
    import SteadTransfer
    import SwiftData

    @Model final class Draft {
      var content: String
      init(content: String) { self.content = content }
    }

    func moveDrafts(into container: ModelContainer) throws {
      let transfer = Transfer(
        "drafts", from: .preference("draft_posts", of: String.self), to: .records(container)
      ) { content in Draft(content: content) }
      try transfer.run()
    }
    """

  /// The bytes of a picture become a file, and its name a preference. Without `SteadTransfer`, so
  /// the code itself has to be safe to repeat.
  private static let preferencesToFile = """
    import Foundation
    import SteadFiles
    import SteadPreferences

    func movePicture(from preferences: Preferences, into folder: URL) throws {
      guard let picture = preferences.data(forKey: "avatar") else { return }
      // The file is durable before the preference is removed. After a crash in between, the next start repeats this.
      try AtomicFile(folder.appending(path: "avatar.png")).replace(with: picture)
      preferences.set("avatar.png", forKey: "avatar_file")
      preferences.removeObject(forKey: "avatar")
    }
    """

  /// The entries of a history become objects with the same identifiers.
  private static let historyToRecords = """
    import Foundation
    import SteadPreferences
    import SteadTransfer
    import SwiftData

    struct Prompt: Codable, Identifiable, Sendable {
      var id: UUID
      var text: String
    }

    @Model final class PromptRecord {
      @Attribute(.unique) var id: UUID
      var text: String
      init(_ prompt: Prompt) { (id, text) = (prompt.id, prompt.text) }
    }

    func movePrompts(into container: ModelContainer) throws {
      let history = try PayloadHistory<Prompt>("prompts", limit: 500)
      let transfer = Transfer("prompts", from: .history(history), to: .records(container)) {
        PromptRecord($0)
      }
      try transfer.run()
    }
    """

  /// The elements of a JSON file become objects, and are removed from the file.
  private static let fileToRecords = """
    import Foundation
    import SteadTransfer
    import SwiftData

    struct Bookmark: Codable, Sendable {
      var title: String
      var address: URL
    }

    @Model final class BookmarkRecord {
      var title: String
      var address: URL
      init(_ bookmark: Bookmark) { (title, address) = (bookmark.title, bookmark.address) }
    }

    func moveBookmarks(in file: URL, into container: ModelContainer) throws {
      let transfer = Transfer(
        "bookmarks", from: .json(file, of: Bookmark.self, removesItems: true), to: .records(container)
      ) { BookmarkRecord($0) }
      try transfer.run()
    }
    """

  /// The bytes of a model's property become files, whose paths another property keeps.
  private static let recordsToFiles = """
    import Foundation
    import SteadTransfer
    import SwiftData

    @Model final class Scan {
      var image: Data?
      var imagePath: String?
      init(image: Data) { self.image = image }
    }

    func moveImages(of container: ModelContainer, into directory: URL) throws {
      let transfer = Transfer(
        "images", from: try .data(of: \\Scan.image, in: container),
        to: try .files(in: directory, folder: "images", path: \\Scan.imagePath, of: container)
      ) { record in RecordFile<Scan>(record.data, extension: "png", of: record.identifier) }
      try transfer.run()
    }
    """

  /// A Core Data store is imported into a container.
  private static let coreDataToRecords = """
    import Foundation
    import SteadTransfer
    import SwiftData

    func importNotes(from store: URL, into container: ModelContainer) throws {
      try CoreDataImport(from: store, to: container).run()
    }
    """
}
