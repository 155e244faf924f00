public import Foundation
import SteadFiles
import SteadFormats

extension TransferSource where Value == PreferenceEntry {
  /// The property list file of a program's `UserDefaults`: an item for each key.
  ///
  /// Foundation on Linux keeps them in `NAME.plist` in the user's directory for configuration, where NAME is
  /// the program's. The file is only read, unless it is opened to remove items; a program that runs
  /// meanwhile writes its own state over it. A file that does not exist has no keys.
  ///
  /// - Parameters:
  ///   - url: The place of the file.
  ///   - removesItems: Whether keys that were moved are taken out of the file.
  public static func userDefaults(_ url: URL, removesItems: Bool = false) -> Self {
    Self(UserDefaultsFile(url, removesItems: removesItems))
  }
}

/// The property list file of a program's `UserDefaults` as a source: an item for each key.
struct UserDefaultsFile: ItemSource {
  private let file: ItemFile<PropertyListFields>

  /// A file; one that is not there has no keys.
  ///
  /// - Parameters:
  ///   - url: The place of the file.
  ///   - removesItems: Whether keys that were moved are taken out of the file.
  init(_ url: URL, removesItems: Bool = false) {
    file = ItemFile(url: url, format: PropertyListFields(), isRemovable: removesItems)
  }

  /// The file's name, with that of its directory.
  var name: String { "user defaults \(file.name)" }
  /// Whether it was opened to remove items.
  var isRemovable: Bool { file.isRemovable }
  func mark() throws -> String? { try file.mark() }

  /// The keys with their values, in the order of the keys' bytes.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<PreferenceEntry> {
    ItemReading(try items(progress))
  }

  private func items(_ progress: TransferProgress.Report) throws -> [TransferItem<PreferenceEntry>]
  {
    try file.items(progress, name: { "key \($1.key)" }) { piece, _ in piece }
  }

  /// Writes the file without those keys that still have the values that were moved.
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    try file.remove(entries)
  }
}
