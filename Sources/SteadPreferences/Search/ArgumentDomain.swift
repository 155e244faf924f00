import Foundation

/// The values on a command line: `-key value`.
///
/// As on Apple's systems, an argument that begins with a hyphen is a key if the next one does not, and that
/// is its value. So a negative number cannot be written as `-5`; `<integer>-5</integer>` can. A value that
/// begins with one of `{ ( < "` is read as a property list, and is a string if it isn't one. All others are
/// strings, which `integer(forKey:)` and the like convert to numbers. Blanks around a value do not count.
enum ArgumentDomain {
  static func fields(of arguments: [String]) -> PropertyList.Fields {
    var fields: [PropertyList.Fields.Field] = []
    // The first is the program's name.
    var rest = arguments.dropFirst()
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("-"), argument.utf8.count > 1 else { continue }
      guard let text = rest.first, !text.hasPrefix("-") else { continue }
      rest.removeFirst()
      let value = text.trimmingCharacters(in: .whitespacesAndNewlines)
      fields.append(.init(String(argument.dropFirst()), PropertyList(argument: value)))
    }
    return PropertyList.Fields(fields)
  }
}
