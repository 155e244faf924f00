import Foundation
import SteadFiles

/// A copy, under another name, of a file that does not parse.
struct AsideFile {
  /// How many damaged copies of one file are kept.
  static let limit = 100

  let original: URL

  init(of original: URL) {
    self.original = original
  }

  /// Keeps the bytes as `NAME.damaged-1` or the next free number, and returns the name.
  ///
  /// - Throws: ``PreferencesError`` `.damaged` when there are ``limit`` copies already; the original
  ///   must then be left where it is.
  func keep(_ data: Data) throws -> String {
    for number in 1...Self.limit {
      let name = "\(original.lastPathComponent).damaged-\(number)"
      let url = original.deletingLastPathComponent().appending(path: name)
      do {
        try AtomicFile(url).create(with: data)
        return name
      } catch let error as FileError where error.code == .alreadyExists {
        if try AtomicFile(url).readIfPresent() == data { return name }
      }
    }
    throw PreferencesError(
      code: .damaged,
      message: "\(original.lastPathComponent) does not parse, and there are \(Self.limit) damaged "
        + "copies beside it. Look at them and move them away.")
  }
}
