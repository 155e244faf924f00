import Foundation
import SteadFiles
import SteadPreferences

/// The keys of a dictionary.
struct PropertyListFields: ItemFormat {
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
