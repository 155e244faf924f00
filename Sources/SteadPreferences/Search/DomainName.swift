/// The rules for names of domains, which become names of files.
enum DomainName {
  static let global = "NSGlobalDomain"
  static let arguments = "NSArgumentDomain"
  static let registration = "NSRegistrationDomain"

  /// Leaves room in a file name of 255 bytes for a host, an extension and a temporary name.
  static let limit = 180

  static func check(_ name: String) throws {
    guard !name.isEmpty else {
      throw PreferencesError.invalidName(
        "A domain's name is empty; use one such as com.example.app.")
    }
    guard name.utf8.count <= limit else {
      throw PreferencesError.invalidName(
        "A domain's name is longer than \(limit) bytes; shorten it.")
    }
    let isPlain = name.unicodeScalars.allSatisfy {
      $0 != "/" && $0 != "\\" && $0.value >= 0x20 && $0.value != 0x7F
    }
    guard isPlain, !name.hasPrefix("."), !name.contains("..") else {
      throw PreferencesError.invalidName(
        "A domain's name contains a slash, a backslash, a control character or two dots in a row, or "
          + "begins with a dot; use one such as com.example.app.")
    }
  }
}
