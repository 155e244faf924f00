public import Foundation
import SteadFormats
import SteadPreferences

extension TransferSource {
  /// A file of JSON: an array is an item for each element, anything else is one item.
  ///
  /// Dates are seconds since 2001 or ISO 8601. The file is only read, unless it is opened to remove items:
  /// then it is replaced as a whole, the elements that stay keep their bytes, and an empty array is left of
  /// the last one. Costs a reading of the whole file. A file that does not exist has no items.
  ///
  /// - Parameters:
  ///   - url: The place of the file.
  ///   - type: What an item decodes as.
  ///   - removesItems: Whether items that were moved are taken out of the file.
  public static func json(
    _ url: URL, of type: Value.Type = Value.self, removesItems: Bool = false
  ) -> Self where Value: Decodable & Sendable {
    Self(JSONFile<Value>(url, removesItems: removesItems))
  }
}

/// A file of JSON as a source: an array is an item for each element, anything else is one item.
struct JSONFile<Value: Decodable & Sendable>: ItemSource {
  private let file: ItemFile<JSONItems>

  /// A file; one that is not there has no items.
  ///
  /// - Parameters:
  ///   - url: The place of the file.
  ///   - type: What an item decodes as.
  ///   - removesItems: Whether items that were moved are taken out of the file.
  init(_ url: URL, of type: Value.Type = Value.self, removesItems: Bool = false) {
    file = ItemFile(url: url, format: JSONItems(), isRemovable: removesItems)
  }

  /// The file's name, with that of its directory.
  var name: String { "JSON \(file.name)" }
  /// Whether it was opened to remove items.
  var isRemovable: Bool { file.isRemovable }
  func versionTag() throws -> String? { try file.versionTag() }

  /// The elements, named by their index.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<Value> {
    ItemReading(try items(progress))
  }

  private func items(_ progress: TransferProgress.Report) throws -> [TransferItem<Value>] {
    try file.items(progress, name: { index, _ in "item \(index)" }) { bytes, _ in
      try JSONElements.decode(Value.self, from: bytes)
    }
  }

  /// Writes the file without the items. Throws `.unsupported` where it may only be read.
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    try file.remove(entries)
  }
}

// MARK: - Format

/// The elements of an array, or one other value, by their bytes.
struct JSONItems: ItemFormat {
  func contents(of data: Data) throws -> [Data] {
    if let elements = JSONArraySplitter.elements(of: data) { return elements }
    guard JSONElements.isSingle(data) else {
      throw TransferError(
        code: .unreadable,
        message: "The file isn't JSON, and was left as it is. Correct it, or move it away.")
    }
    return [data]
  }

  func pieces(of contents: [Data]) -> [Data] { contents }

  func identity(of piece: Data) -> String { JSONElements.identity(of: piece) }

  func data(of contents: [Data], keeping pieces: [Data]) -> Data { JSONElements.array(of: pieces) }
}
