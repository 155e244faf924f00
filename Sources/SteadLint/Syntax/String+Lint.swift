extension StringProtocol {
  /// Without spaces and line breaks at both ends.
  var trimmed: String {
    var rest = self[...]
    while rest.first?.isWhitespace == true { rest = rest.dropFirst() }
    while rest.last?.isWhitespace == true { rest = rest.dropLast() }
    return String(rest)
  }

  /// The part after the last full stop.
  var lastComponent: String {
    String(split(separator: ".").last ?? "")
  }

  /// A type's name without the optional, array or set around it.
  var elementType: String {
    var name = trimmed
    while true {
      if name.hasSuffix("?") || name.hasSuffix("!") {
        name = String(name.dropLast()).trimmed
      } else if name.hasPrefix("["), name.hasSuffix("]"), !name.contains(":") {
        name = String(name.dropFirst().dropLast()).trimmed
      } else if let inner = name.inside("Optional") ?? name.inside("Array") ?? name.inside("Set") {
        name = inner
      } else {
        for word in ["any ", "some "] where name.hasPrefix(word) {
          name = String(name.dropFirst(word.count)).trimmed
        }
        return name
      }
    }
  }

  /// The type of a dictionary's values, or of a list's elements.
  var payloadType: String {
    let name = elementType
    guard name.hasPrefix("["), name.hasSuffix("]"), let colon = name.firstIndex(of: ":") else {
      return name
    }
    return String(name[name.index(after: colon)...].dropLast()).elementType
  }

  /// What is between the angle brackets of a generic type with a name.
  private func inside(_ generic: String) -> String? {
    guard hasPrefix(generic + "<"), hasSuffix(">") else { return nil }
    return String(dropFirst(generic.count + 1).dropLast()).trimmed
  }

  /// Whether a type is optional as it's written.
  var isOptionalType: Bool {
    let name = trimmed
    return name.hasSuffix("?") || name.hasSuffix("!") || name.hasPrefix("Optional<")
  }

  /// Whether a type is a list as it's written.
  var isListType: Bool {
    var name = trimmed
    while name.hasSuffix("?") || name.hasSuffix("!") { name = String(name.dropLast()) }
    if name.hasPrefix("[") { return !name.contains(":") }
    return name.hasPrefix("Array<") || name.hasPrefix("Set<")
  }

  /// Whether the strings differ in exactly one character: another one, or a missing one.
  func isOneEdit(from other: some StringProtocol) -> Bool {
    let (long, short) =
      count >= other.count ? (Array(self), Array(other)) : (Array(other), Array(self))
    guard long.count - short.count <= 1, String(long) != String(short) else { return false }
    let start = zip(long, short).prefix { $0 == $1 }.count
    let rest = long.count == short.count ? short[(start + 1)...] : short[start...]
    return Array(long[(start + 1)...]) == Array(rest)
  }
}
