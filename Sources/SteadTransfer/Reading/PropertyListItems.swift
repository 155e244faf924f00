import Foundation
import SteadFiles
import SteadPreferences

/// The elements of an array, or one other value.
struct PropertyListItems: ItemFormat {
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
    try (contents.list.stored(pieces) ?? .array([])).data(format: contents.format)
  }
}
