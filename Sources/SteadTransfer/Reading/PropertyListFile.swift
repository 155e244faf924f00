public import Foundation
import SteadFiles
import SteadFormats

extension TransferSource {
  /// A property list file: an array is an item for each element, anything else is one item.
  ///
  /// Binary, XML and NeXTSTEP's text are read. The file is only read, unless it is opened to remove items:
  /// then it is replaced as a whole, in its format (NeXTSTEP's text becomes XML), and an empty array is left
  /// of the last item. Costs a reading of the whole file. A file that does not exist has no items.
  ///
  /// - Parameters:
  ///   - url: The place of the file.
  ///   - type: What an item decodes as.
  ///   - removesItems: Whether items that were moved are taken out of the file.
  public static func propertyList(
    _ url: URL, of type: Value.Type = Value.self, removesItems: Bool = false
  ) -> Self where Value: Decodable & Sendable {
    Self(PropertyListFile<Value>(url, removesItems: removesItems))
  }
}

/// A property list file as a source: an array is an item for each element, anything else is one item.
struct PropertyListFile<Value: Decodable & Sendable>: ItemSource {
  private let file: ItemFile<PropertyListItems>

  /// A file; one that is not there has no items.
  ///
  /// - Parameters:
  ///   - url: The place of the file.
  ///   - type: What an item decodes as.
  ///   - removesItems: Whether items that were moved are taken out of the file.
  init(_ url: URL, of type: Value.Type = Value.self, removesItems: Bool = false) {
    file = ItemFile(url: url, format: PropertyListItems(), isRemovable: removesItems)
  }

  /// The file's name, with that of its directory.
  var name: String { "property list \(file.name)" }
  /// Whether it was opened to remove items.
  var isRemovable: Bool { file.isRemovable }
  func mark() throws -> String? { try file.mark() }

  /// The elements, named by their index.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<Value> {
    ItemReading(try items(progress))
  }

  private func items(_ progress: TransferProgress.Report) throws -> [TransferItem<Value>] {
    try file.items(progress, name: { index, _ in "item \(index)" }) { piece, _ in
      try piece.decoded(as: Value.self)
    }
  }

  /// Writes the file without the items. Throws `.unsupported` where it may only be read.
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    try file.remove(entries)
  }
}

extension PropertyList {
  /// The format to write a file in again.
  static func format(of data: Data) -> Format { data.starts(with: "bplist".utf8) ? .binary : .xml }
}
