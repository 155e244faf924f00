import Foundation
import SteadEncoding
import SteadFiles

/// The process and machine that a search list uses: what ``Preferences/Environment`` is made of.
///
/// Copies of the value are the same environment, since they share `shared`.
struct SearchEnvironment: Sendable {
  /// The name of the app's own domain.
  let appID: String

  /// The locations of domains' files.
  let directories: DomainDirectories

  /// A name for the machine, which is part of the names of its own files.
  let host: String
  /// What all search lists of the environment share.
  let shared: SharedDomains
}

// MARK: - Directories

/// The directories of domains' files. Each platform has its own ``init(variables:managed:)``.
struct DomainDirectories: Sendable {
  /// The user's home, which is never created; nil for an environment without files.
  var home: HomeDirectory?

  /// Contains a directory for each domain; nil keeps everything in memory.
  var config: URL?

  /// Where an administrator leaves values for all users; the first that has a key wins.
  var allUsers: [URL]

  /// Where an administrator forces values, which override all others.
  var managed: URL?
}

// MARK: - Names

/// A name for this machine that tells other programs nothing about it.
enum HostID {
  static let current = make(
    machineID: try? Data(contentsOf: URL(filePath: "/etc/machine-id")),
    hostName: ProcessInfo.processInfo.hostName)

  /// The first 32 hexadecimal digits of a hash.
  ///
  /// `/etc/machine-id` is confidential, see machine-id(5): with it, programs can recognize the
  /// machine across programs.
  static func make(machineID: Data?, hostName: @autoclosure () -> String) -> String {
    // Without the line feed at its end.
    let identity = machineID.map { $0.filter { $0 > 0x20 } } ?? Data()
    // Containers often have no machine-id, or an empty one.
    let known = identity.isEmpty ? Data(hostName().utf8) : identity
    return String(SHA256.hexadecimal(Data("Preferences of ".utf8) + known).prefix(32))
  }
}

/// The rules for names of domains, which become names of files.
enum DomainName {
  static let global = "NSGlobalDomain"
  static let arguments = "NSArgumentDomain"
  static let registration = "NSRegistrationDomain"

  /// Leaves room in a file name of 255 bytes for the host's digits, an extension and a temporary
  /// name.
  static let limit = 180

  /// Checks a name: nothing that leads to another directory, hides the file, or is too long.
  ///
  /// - Throws: ``PreferencesError`` `.invalidDomainName`.
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

// MARK: - Arguments

/// The values on a command line: `-key value`.
///
/// As on Apple's systems, an argument that begins with a hyphen is a key if the next one does not,
/// and that is its value. So a negative number cannot be written as `-5`; `<integer>-5</integer>`
/// can. A value that begins with one of `{ ( < "` is read as a property list, and is a string if it
/// isn't one. All others are strings, which `integer(forKey:)` and the like convert to numbers.
/// Blanks around a value do not count.
enum ArgumentDomain {
  /// The keys and values; of a key that occurs twice the last one counts.
  static func fields(of arguments: [String]) -> PropertyList.Fields {
    var fields: [PropertyList.Fields.Field] = []
    // The first is the program's name.
    var rest = arguments.dropFirst()
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("-"), argument.utf8.count > 1 else { continue }
      // A flag without a value is not a key.
      guard let text = rest.first, !text.hasPrefix("-") else { continue }
      rest.removeFirst()
      let value = text.trimmingCharacters(in: .whitespacesAndNewlines)
      fields.append(.init(String(argument.dropFirst()), PropertyList(argument: value)))
    }
    return PropertyList.Fields(fields)
  }
}
