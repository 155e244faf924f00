public import Foundation
import SteadFiles
import SteadFormats
import SteadPreferences

extension TransferSource {
  /// A property list file: an array has an item for each element, anything else is one item.
  ///
  /// ```swift
  /// let source = TransferSource<Entry>.propertyList(url)
  /// ```
  ///
  /// Binary, XML and NeXTSTEP's text are read. A file that doesn't exist has no items. The file is
  /// read as a whole. It is only read unless `removesItems` is true; then it is replaced as a whole
  /// in its format (NeXTSTEP's text becomes XML), and an empty array is left of the last item.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - type: The type that an item decodes as.
  ///   - removesItems: Whether items that were moved are removed from the file.
  public static func propertyList(
    _ url: URL, of type: Value.Type = Value.self, removesItems: Bool = false
  ) -> Self where Value: Decodable & Sendable {
    Self(PropertyListFile<Value>(url, removesItems: removesItems))
  }
}

/// A property list file as a source.
struct PropertyListFile<Value: Decodable & Sendable>: FileSource {
  let file: ItemFile<PropertyListItems>

  /// A file; one that doesn't exist has no items.
  init(_ url: URL, of type: Value.Type = Value.self, removesItems: Bool = false) {
    file = ItemFile(url: url, format: PropertyListItems(), isRemovable: removesItems)
  }

  /// The file's name, with that of its directory.
  var name: String { "property list \(file.name)" }

  /// The elements, named by index.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<Value> {
    ItemReading(try items(progress))
  }

  private func items(_ progress: TransferProgress.Report) throws -> [TransferItem<Value>] {
    try file.items(progress, name: { index, _ in "item \(index)" }) { piece, _ in
      try piece.decoded(as: Value.self)
    }
  }
}

extension PropertyList {
  /// The format to write a file in again; NeXTSTEP's can't be written.
  static func format(of data: Data) -> Format { data.starts(with: "bplist".utf8) ? .binary : .xml }
}

// MARK: - Format

/// The format of a property list file: the elements of an array, or one other value.
struct PropertyListItems: ItemFormat {
  /// The parsed file, with the format in which it is written again.
  struct Contents {
    var list: PreferenceList
    var format: PropertyList.Format
  }

  func contents(of data: Data) throws -> Contents {
    Contents(
      list: PreferenceList(try PropertyList.parse(data), splitsData: false),
      format: PropertyList.format(of: data))
  }

  func pieces(of contents: Contents) -> [PreferenceList.Element] { contents.list.elements }

  func identity(of piece: PreferenceList.Element) throws -> String { try piece.identity() }

  func data(of contents: Contents, keeping pieces: [PreferenceList.Element]) throws -> Data {
    // An empty array, so that the program that writes the file finds one.
    try (contents.list.stored(pieces) ?? .array([])).data(format: contents.format)
  }
}

// MARK: - User defaults

extension TransferSource where Value == PreferenceEntry {
  /// The property list file of a program's `UserDefaults`: an item for each key.
  ///
  /// Foundation on Linux stores them in `NAME.plist` in the user's configuration directory, where
  /// NAME is the program's. A file that doesn't exist has no keys. The file is only read unless
  /// `removesItems` is true. A program that is running writes its own state over a change.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - removesItems: Whether keys that were moved are removed from the file.
  public static func userDefaults(_ url: URL, removesItems: Bool = false) -> Self {
    Self(UserDefaultsFile(url, removesItems: removesItems))
  }
}

/// The property list file of a program's `UserDefaults` as a source.
struct UserDefaultsFile: FileSource {
  let file: ItemFile<PropertyListFields>

  /// A file; one that doesn't exist has no keys.
  init(_ url: URL, removesItems: Bool = false) {
    file = ItemFile(url: url, format: PropertyListFields(), isRemovable: removesItems)
  }

  /// The file's name, with that of its directory.
  var name: String { "user defaults \(file.name)" }

  /// The keys with their values, in the order of the keys' bytes.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<PreferenceEntry> {
    ItemReading(try items(progress))
  }

  private func items(_ progress: TransferProgress.Report) throws -> [TransferItem<PreferenceEntry>]
  {
    try file.items(progress, name: { "key \($1.key)" }) { piece, _ in piece }
  }
}

/// The format of a file of user defaults: the keys of a dictionary.
struct PropertyListFields: ItemFormat {
  /// The parsed file, with the format in which it is written again.
  struct Contents {
    var entries: [PreferenceEntry]
    var format: PropertyList.Format
  }

  func contents(of data: Data) throws -> Contents {
    guard case .dictionary(let fields) = try PropertyList.parse(data) else {
      throw PropertyListError(
        code: .notADictionary,
        message: "The property list isn't a dictionary; put its value into one, under a key.")
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
