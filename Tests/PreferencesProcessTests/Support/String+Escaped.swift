import Foundation

extension String {
  /// As the worker writes keys.
  var escapedKey: String {
    addingPercentEncoding(withAllowedCharacters: CharacterSet(charactersIn: Self.plain)) ?? ""
  }

  private static let plain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-./"
}
