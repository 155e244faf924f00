/// Names and paths in messages. They come from other programs and from files, so they could otherwise forge
/// lines of a log, colour a terminal, or end a quotation.
extension String {
  /// The string with control and format characters written as escapes, such as `\u{1B}`.
  var shown: String {
    // Nearly all are plain, and are not copied.
    if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return self }
    var shown = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        shown.append(contentsOf: #"\u{\#(digits)}"#.unicodeScalars)
      default: shown.append(scalar)
      }
    }
    return String(shown)
  }

  /// The string in quotation marks, with quotation marks and backslashes in it escaped.
  var quoted: String {
    var quoted = "\""
    for character in unicodeScalars {
      if character == "\"" || character == "\\" { quoted.unicodeScalars.append("\\") }
      quoted.unicodeScalars.append(character)
    }
    return quoted.shown + "\""
  }

  /// The string as one word of a shell command, whatever it contains.
  var shellQuoted: String {
    var quoted = "'"
    // By scalars, since a quotation mark with an accent is another character to Swift, but not to a shell.
    for scalar in unicodeScalars {
      quoted.unicodeScalars.append(
        contentsOf: (scalar == "'" ? #"'\''"# : "\(scalar)").unicodeScalars)
    }
    return quoted + "'"
  }
}
