/// The contents of a `user-dirs.dirs` file: where a user has their documents, music and so on.
///
/// The file looks like a shell script, but isn't one. A line counts when it is `XDG_NAME_DIR="$HOME/path"` or
/// `XDG_NAME_DIR="/path"`, with a backslash before a character that is meant literally; all other lines are
/// skipped, and the last of several lines for one name counts.
struct UserDirectories {
  private var paths: [String: String] = [:]

  init(_ text: String, home: String) {
    for line in text.split(whereSeparator: \.isNewline) {
      guard let (name, path) = Self.entry(line, home: home) else { continue }
      paths[name] = path
    }
  }

  /// The absolute path of one of the directories, such as `DOCUMENTS`.
  subscript(name: String) -> String? { paths[name] }

  private static func entry(_ line: Substring, home: String) -> (name: String, path: String)? {
    var rest = line.drop(while: \.isBlank)
    guard rest.hasPrefix("XDG_"), let equals = rest.firstIndex(of: "=") else { return nil }
    var name = rest[..<equals].dropFirst(4)
    while name.last?.isBlank == true { name.removeLast() }
    guard name.hasSuffix("_DIR"), name.count > 4 else { return nil }

    rest = rest[equals...].dropFirst().drop(while: \.isBlank)
    guard rest.first == "\"", let path = path(rest.dropFirst(), home: home) else { return nil }
    return (String(name.dropLast(4)), path)
  }

  /// The path in a string up to the closing quotation mark; nil when it is not absolute.
  private static func path(_ text: Substring, home: String) -> String? {
    // Checked before the backslashes are removed: `\$HOME` is a directory of that odd name.
    if text.first == "/" { return unquoted(text) }
    let variable = "$HOME"
    guard text.hasPrefix(variable), let rest = unquoted(text.dropFirst(variable.count)) else {
      return nil
    }
    guard rest.isEmpty || rest.hasPrefix("/") else { return nil }
    let relative = rest.drop { $0 == "/" }
    return relative.isEmpty ? home : home + (home.hasSuffix("/") ? "" : "/") + relative
  }

  /// The string up to the closing quotation mark; nil when it has none.
  private static func unquoted(_ text: Substring) -> String? {
    var value = ""
    var isEscaped = false
    for character in text {
      if isEscaped {
        value.append(character)
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        return value
      } else {
        value.append(character)
      }
    }
    return nil
  }
}

extension Character {
  fileprivate var isBlank: Bool { self == " " || self == "\t" }
}
