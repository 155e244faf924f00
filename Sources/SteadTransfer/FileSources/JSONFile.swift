public import Foundation
import SteadFormats
import SteadPreferences

extension TransferSource {
  /// A JSON file: an array has an item for each element, anything else is one item.
  ///
  /// ```swift
  /// let source = TransferSource<Entry>.json(url, removesItems: true)
  /// ```
  ///
  /// Dates are seconds since 2001 or ISO 8601. A file that doesn't exist has no items. The file is
  /// read as a whole. It is only read unless `removesItems` is true; then it is replaced as a
  /// whole, the remaining elements keep their bytes, and an empty array is left of the last one.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - type: The type that an item decodes as.
  ///   - removesItems: Whether items that were moved are removed from the file.
  public static func json(
    _ url: URL, of type: Value.Type = Value.self, removesItems: Bool = false
  ) -> Self where Value: Decodable & Sendable {
    Self(JSONFile<Value>(url, removesItems: removesItems))
  }
}

/// A JSON file as a source.
struct JSONFile<Value: Decodable & Sendable>: FileSource {
  let file: ItemFile<JSONItems>

  /// A file; one that doesn't exist has no items.
  init(_ url: URL, of type: Value.Type = Value.self, removesItems: Bool = false) {
    file = ItemFile(url: url, format: JSONItems(), isRemovable: removesItems)
  }

  /// The file's name, with that of its directory.
  var name: String { "JSON \(file.name)" }

  /// The elements, named by index.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<Value> {
    ItemReading(try items(progress))
  }

  private func items(_ progress: TransferProgress.Report) throws -> [TransferItem<Value>] {
    try file.items(progress, name: { index, _ in "item \(index)" }) { bytes, _ in
      try JSONElements.decode(Value.self, from: bytes)
    }
  }
}

// MARK: - Format

/// The format of a JSON file: the elements of an array, or one other value, in their own bytes.
struct JSONItems: ItemFormat {
  func contents(of data: Data) throws -> [Data] {
    if let elements = JSONArraySplitter.elements(of: data) { return elements }
    // An array that can't be split must not become one item.
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
