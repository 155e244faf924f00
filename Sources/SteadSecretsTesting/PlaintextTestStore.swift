public import Foundation
import Foundation
import SteadFiles
public import SteadSecrets
import SteadSecrets

/// Stores secrets unencrypted in a file that everyone with access to it can read; for tests only.
///
/// An app's tests use it to check what the app stores, and to set up a start state. It is in a separate
/// product for test targets, so that no app can use it by mistake. Nothing else in this package writes a
/// secret in the clear. The file is JSON, with the secrets in Base64; each write replaces it as a whole, and
/// only its owner may access it. Processes take turns through a lock next to it, `NAME.lock`. Each call reads
/// the whole file.
///
/// ```swift
/// let store = PlaintextTestStore(at: directory.appending(path: "secrets.json"))
/// let secrets = try Secrets(service: "org.example.Notes", store: store)
/// ```
public struct PlaintextTestStore: SecretStore {
  /// The largest secret that it accepts, 16 MiB.
  public static let sizeLimit = 16 << 20

  /// Where the file is, or will be.
  public let url: URL
  private let file: AtomicFile
  private let lock: FileLock

  /// A store in a file, which the first write creates; the directory must exist.
  public init(at url: URL) {
    self.url = url
    file = AtomicFile(url)
    lock = FileLock(url.appendingPathExtension("lock"))
  }

  /// The file's location, and that it is in the clear.
  public var storeDescription: SecretStoreDescription {
    SecretStoreDescription(
      kind: .other("file in the clear"), location: url.path(percentEncoded: false),
      reason: "The caller chose it. Everyone who can read the file can read the secrets.")
  }

  /// It stores secrets persistently, but does not protect them.
  public var features: Set<SecretStoreFeature> { [.persistence] }
  /// The largest secret that it accepts, in bytes.
  public var sizeLimit: Int { Self.sizeLimit }

  /// The secret of a name, or nil if none exists.
  ///
  /// - Throws: ``SecretError``: `.accessDenied`, `.corrupt` or `.newerVersion` when the file cannot be read.
  public func bytes(for id: SecretID) throws(SecretError) -> SecretBytes? {
    try table().entries[id]?.bytes
  }

  /// A secret's metadata, or nil if none exists; the secret itself isn't returned.
  ///
  /// - Throws: ``SecretError`` as ``bytes(for:)`` does.
  public func item(for id: SecretID) throws(SecretError) -> SecretItem? {
    try table().entries[id]?.item
  }

  /// The metadata of all secrets of a service, sorted by their accounts' UTF-8.
  ///
  /// - Throws: ``SecretError`` as ``bytes(for:)`` does.
  public func items(service: String) throws(SecretError) -> [SecretItem] {
    try table().items(service: service)
  }

  /// The metadata of the secrets of all services that have these attributes.
  ///
  /// - Throws: ``SecretError`` as ``bytes(for:)`` does.
  public func items(matching attributes: [String: String]) throws(SecretError) -> [SecretItem] {
    try table().items(matching: attributes)
  }

  /// Stores a secret, if the write's condition holds.
  ///
  /// - Throws: ``SecretError``: `.duplicateItem`, `.notFound` or `.changed` when the condition does not hold,
  ///   `.tooLarge`, `.unsupported`, `.noSpace`; otherwise as ``bytes(for:)`` does.
  public func write(
    _ bytes: SecretBytes, for id: SecretID, _ write: SecretStoreWrite
  ) throws(SecretError) {
    try check(bytes, write)
    try change { table in
      table.entries[id] = try table.entry(bytes, for: id, write, at: Date())
      return true
    }
  }

  /// Removes a secret, and returns whether it existed.
  ///
  /// - Throws: ``SecretError`` as ``write(_:for:_:)`` does.
  @discardableResult
  public func remove(_ id: SecretID) throws(SecretError) -> Bool {
    var isThere = false
    try change { table in
      isThere = table.entries.removeValue(forKey: id) != nil
      return isThere
    }
    return isThere
  }

  /// Removes all secrets of a service, and returns their number.
  ///
  /// - Throws: ``SecretError`` as ``write(_:for:_:)`` does.
  @discardableResult
  public func removeAll(service: String) throws(SecretError) -> Int {
    var count = 0
    try change { table in
      count = table.removeAll(service: service)
      return count > 0
    }
    return count
  }
}

extension PlaintextTestStore {
  /// The contents of the file, or an empty table if there is none.
  ///
  /// Without the lock: a write replaces the whole file, so a read gets the old one or the new one.
  private func table() throws(SecretError) -> SecretTable {
    try SecretError.files {
      try file.readIfPresent().map { try SecretTable(plaintext: $0) } ?? SecretTable()
    }
  }

  /// Reads the file, lets `body` change the table, and writes it unless `body` returns false.
  private func change(_ body: (inout SecretTable) throws -> Bool) throws(SecretError) {
    try SecretError.files {
      try lock.withLock {
        // `update` compares the file again: the lock excludes nobody once somebody has removed its file.
        _ = try file.update { old in
          var table = try old.map { try SecretTable(plaintext: $0) } ?? SecretTable()
          return try body(&table) ? try table.plaintext() : nil
        }
      }
    }
  }
}

// MARK: - The table

extension SecretTable {
  /// The JSON document of a ``PlaintextTestStore``.
  private struct Document: Codable {
    static let version = 1

    struct Item: Codable {
      var service: String
      var account: String
      var label: String
      var attributes: [String: String]
      var created: Date?
      var modified: Date?
      var secret: Data
    }

    var version = Self.version
    var items: [Item]
  }

  private struct Version: Codable { var version: Int }

  /// Parses the file.
  ///
  /// - Throws: ``SecretError``: `.corrupt`, `.newerVersion`; `.invalidName` for a name that no store accepts.
  init(plaintext data: Data) throws(SecretError) {
    self.init()
    let decoder = JSONDecoder()
    // A later version may have another structure, so its number is decoded separately.
    guard let version = try? decoder.decode(Version.self, from: data).version else {
      throw Self.corrupt
    }
    guard version <= Document.version else {
      throw SecretError(
        code: .newerVersion,
        message: "The file of the plaintext store has version \(version). Remove it, or use the "
          + "version of the library that wrote it.")
    }
    guard let document = try? decoder.decode(Document.self, from: data) else { throw Self.corrupt }
    // Checked names, since a test or a person may have written the file.
    for item in document.items {
      entries[try SecretID(service: item.service, account: item.account)] = Entry(
        bytes: SecretBytes(item.secret),
        item: SecretItem(
          service: item.service, account: item.account, label: item.label,
          attributes: item.attributes, created: item.created, modified: item.modified))
    }
  }

  /// The file's contents: JSON with the secrets in Base64.
  func plaintext() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let items = entries.values.map { entry in
      Document.Item(
        service: entry.item.service, account: entry.item.account, label: entry.item.label,
        attributes: entry.item.attributes, created: entry.item.created,
        modified: entry.item.modified, secret: entry.bytes.withBytes { Data($0) })
    }
    let order = { (one: Document.Item, other: Document.Item) in
      // In a fixed order, so that a test can compare the file with what it expects.
      [one.service, one.account].lexicographicallyPrecedes([other.service, other.account])
    }
    return try encoder.encode(Document(items: items.sorted(by: order)))
  }

  private static let corrupt = SecretError(
    code: .corrupt,
    message: "The file of the plaintext store is damaged. Remove it to start over.")
}
