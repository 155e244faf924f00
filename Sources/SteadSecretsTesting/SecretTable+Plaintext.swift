import Foundation
import SteadSecrets

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
    for item in document.items {
      entries[try SecretID(service: item.service, account: item.account)] = Entry(
        bytes: SecretBytes(item.secret),
        item: SecretItem(
          service: item.service, account: item.account, label: item.label,
          attributes: item.attributes, created: item.created, modified: item.modified))
    }
  }

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
      [one.service, one.account].lexicographicallyPrecedes([other.service, other.account])
    }
    return try encoder.encode(Document(items: items.sorted(by: order)))
  }

  private static let corrupt = SecretError(
    code: .corrupt,
    message: "The file of the plaintext store is damaged. Remove it to start over.")
}
