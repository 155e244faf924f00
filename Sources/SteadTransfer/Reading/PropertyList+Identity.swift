import Foundation
import SteadFiles
import SteadFormats

extension PropertyList {
  /// The SHA-256 of the value in the binary format, which has one form for each value.
  func digest() throws -> String { SHA256.hexadecimal(try data(format: .binary)) }
}

extension PreferenceEntry {
  /// The SHA-256 of key and value.
  func digest() throws -> String { try PropertyList.array([.string(key), value]).digest() }
}
