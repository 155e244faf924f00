import Foundation
import SteadEncoding
import SteadRecords
import SteadTransfer
import Testing

/// A store of Core Data in a directory of its own, and what the `sqlite3` tool says of it.
struct CoreDataFixture {
  let directory: TemporaryDirectory
  let store: URL

  /// A copy of a store that Apple's Core Data wrote.
  init(real name: String) throws {
    directory = try TemporaryDirectory()
    store = directory.file("\(name).sqlite")
    let original = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Stores/\(name).sqlite", directoryHint: .notDirectory)
    try FileManager.default.copyItem(at: original, to: store)
  }

  /// A store that `sqlite3` makes of statements, in the layout that Core Data uses.
  init(entities: [CoreDataEntityLine], _ statements: String, name: String = "built.sqlite") throws {
    directory = try TemporaryDirectory()
    store = directory.file(name)
    try run(Self.preamble(entities) + statements)
  }

  static func preamble(_ entities: [CoreDataEntityLine]) -> String {
    let rows = entities.map { "(\($0.number), '\($0.name)', \($0.parent), 0)" }
    return """
      PRAGMA journal_mode = WAL;
      CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
      CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
      CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
      INSERT INTO Z_METADATA VALUES (1, '8C5B1C9C-3D5C-4B0E-9B1B-0A0C5B5B2F3D', NULL);
      INSERT INTO Z_PRIMARYKEY VALUES \(rows.joined(separator: ", "));

      """
  }

  /// Runs statements with the `sqlite3` tool.
  @discardableResult
  func run(_ sql: String) throws -> String {
    try ToolRun.text(
      ["sqlite3", "-bail", store.filePath], input: Data(sql.utf8))
  }

  /// Rows as `sqlite3` writes them, from a copy, so that the store stays as it is.
  func lines(_ sql: String) throws -> [String] {
    let copy = try TemporaryDirectory()
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: store.filePath + suffix)
    {
      try FileManager.default.copyItem(
        atPath: store.filePath + suffix, toPath: copy.file("copy").filePath + suffix)
    }
    let text = try ToolRun.text(["sqlite3", copy.file("copy").filePath, sql])
    return text.isEmpty ? [] : text.components(separatedBy: "\n")
  }

  func number(_ sql: String) throws -> Int {
    try #require(Int(lines(sql).first ?? ""))
  }

  /// Names, contents and times of all files.
  func state() throws -> [String: String] {
    var state: [String: String] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: directory.url.filePath) {
      let path = directory.file(name).filePath
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      let date = (attributes[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0
      let content = FileManager.default.contents(atPath: path).map { SHA256.hexadecimal($0) }
      state[name] = "\(date) \(attributes[.size] ?? 0) \(content ?? "")"
    }
    return state
  }

  func importing(
    to container: ModelContainer, mapping: CoreDataMapping = CoreDataMapping(),
    acceptsPartial: Bool = false
  ) -> Importing {
    Importing(
      directory: directory,
      transfer: CoreDataImport(
        from: store, to: container, mapping: mapping, acceptsPartial: acceptsPartial))
  }

  /// An import that keeps the store where it is.
  struct Importing {
    let directory: TemporaryDirectory
    let transfer: CoreDataImport

    @discardableResult
    func run() throws -> CoreDataReport {
      try withExtendedLifetime(directory) { try transfer.run() }
    }

    func preview() throws -> CoreDataReport {
      try withExtendedLifetime(directory) { try transfer.preview() }
    }
  }
}

/// A row of `Z_PRIMARYKEY`.
struct CoreDataEntityLine {
  let number: Int
  let name: String
  let parent: Int

  init(_ number: Int, _ name: String, under parent: Int = 0) {
    self.number = number
    self.name = name
    self.parent = parent
  }
}

func memoryContainer(_ types: any PersistentModel.Type...) throws -> ModelContainer {
  try ModelContainer(
    for: Schema(types), configurations: [ModelConfiguration(isStoredInMemoryOnly: true)])
}

/// The error that a body throws.
func transferError(_ body: () throws -> Void) throws -> TransferError {
  do {
    try body()
  } catch let error as TransferError {
    return error
  }
  throw NothingThrown()
}

struct NothingThrown: Error {}
