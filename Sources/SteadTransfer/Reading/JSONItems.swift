import SteadFormats
import Foundation
import SteadPreferences

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
