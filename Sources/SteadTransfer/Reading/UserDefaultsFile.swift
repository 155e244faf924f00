public import Foundation
import SteadFiles
import SteadFormats

/// The property list file of a program's `UserDefaults` as a source: an item for each key.
///
/// Foundation on Linux keeps them in `NAME.plist` in the user's directory for configuration, where NAME is
/// the program's. The file is only read, unless it is opened to remove items; a program that runs
/// meanwhile writes its own state over it.
public struct UserDefaultsFile: TransferSource {
  private let file: ItemFile<PropertyListFields>

  /// A file; one that is not there has no keys.
  ///
  /// - Parameters:
  ///   - url: The place of the file.
  ///   - removesItems: Whether keys that were moved are taken out of the file.
  public init(_ url: URL, removesItems: Bool = false) {
    file = ItemFile(url: url, format: PropertyListFields(), isRemovable: removesItems)
  }

  /// The file's name, with that of its directory.
  public var name: String { "user defaults \(file.name)" }
  /// Whether it was opened to remove items.
  public var isRemovable: Bool { file.isRemovable }

  /// The keys with their values, in the order of the keys' bytes.
  public func read(_ progress: TransferProgress.Report) throws -> [TransferItem<PreferenceEntry>] {
    try file.items(progress, name: { "key \($1.key)" }) { piece, _ in piece }
  }

  /// Writes the file without those keys that still have the values that were moved.
  public func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    try file.remove(entries)
  }
}

/// The keys of a dictionary.
struct PropertyListFields: ItemFormat {
  struct Contents {
    var entries: [PreferenceEntry]
    var format: PropertyList.Format
  }

  func contents(of data: Data) throws -> Contents {
    guard case .dictionary(let fields) = try PropertyList.parse(data) else {
      throw PropertyListError(
        code: .notADictionary, message: "The property list is no dictionary.")
    }
    return Contents(
      entries: fields.map { PreferenceEntry(key: $0.key, value: $0.value) },
      format: PropertyList.format(of: data))
  }

  func pieces(of contents: Contents) -> [PreferenceEntry] { contents.entries }

  func identity(of piece: PreferenceEntry) throws -> String { try piece.digest() }

  func data(of contents: Contents, keeping pieces: [PreferenceEntry]) throws -> Data {
    try PropertyList.dictionary(.init(pieces.map { .init($0.key, $0.value) }))
      .data(format: contents.format)
  }
}
