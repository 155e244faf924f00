import Foundation
import SteadFiles

/// How the contents of a file are taken apart into items, and put together again without some.
protocol ItemFormat: Sendable {
  /// The contents, taken apart.
  associatedtype Contents
  /// One item as it is in the file.
  associatedtype Piece

  /// Throws for contents that are not in the format.
  func contents(of data: Data) throws -> Contents
  func pieces(of contents: Contents) -> [Piece]
  func identity(of piece: Piece) throws -> String
  /// The file with these pieces alone, which may be none.
  func data(of contents: Contents, keeping pieces: [Piece]) throws -> Data
}
