/// Measures the nesting that would make a recursive parser overflow its stack.
///
/// A parser's stack can't be measured from within, so this looks at the bytes first: brackets outside of strings and
/// comments, and chains that nest without brackets.
///
/// It mostly errs towards too deep: in a string of several lines and in a block comment brackets count, too. A file
/// that is refused wrongly gets a finding L02. Brackets in a string's interpolation don't count; the parser has a
/// limit of its own.
///
/// Costs one pass over the bytes, and no memory.
struct NestingScan {
  /// The deepest nesting of brackets.
  private(set) var depth = 0
  /// The longest chain of prefix words, or of full stops and operators without an end of a line, a `;` or a `,`
  /// between.
  private(set) var chain = 0

  /// How many brackets and `#if` are open.
  private var current = 0
  /// The links of the present chain.
  private var links = 0
  /// The weight of the present run of prefix words.
  private var words = 0

  /// Measures some bytes, which need be neither UTF-8 nor Swift.
  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    var index = 0
    while index < bytes.count {
      index = step(bytes, at: index)
    }
  }

  /// Counts what is at an index, and returns the index after it.
  ///
  /// Invariant: the index grows with each step, so the scan ends on any input.
  private mutating func step(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Int {
    let next = index + 1 < bytes.count ? bytes[index + 1] : 0
    switch bytes[index] {
    case UInt8(ascii: "/") where next == UInt8(ascii: "/"):
      return end(of: bytes, from: index) { $0 == UInt8(ascii: "\n") }
    case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"):
      current += 1
      depth = max(depth, current)
    // Never below zero: a file may begin with closing brackets, and those after them must still
    // count.
    case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
      current = max(0, current - 1)
    case UInt8(ascii: "\""):
      // Brackets in a string are text. Left in, a file with one `"("` for each line would count as
      // deep.
      return endOfString(bytes, from: index)
    case UInt8(ascii: "#"):
      // Without skipping the word: the `#` itself may be a link of a chain, too.
      countCondition(bytes, at: index + 1)
    case UInt8(ascii: "a")...UInt8(ascii: "z"):
      return endOfWord(bytes, from: index)
    default:
      break
    }
    count(bytes[index])
    return index + 1
  }

  /// Counts `#if`, which nests as a bracket does until `#endif`.
  private mutating func countCondition(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) {
    // Long enough for `endif` and for the byte after `if`, which tells `#if` from a macro such as
    // `#iffy`.
    let word = bytes[index...].prefix(6)
    if word.starts(with: "if".utf8), word.dropFirst(2).first.map(Self.isLetter) != true {
      current += 1
      depth = max(depth, current)
    } else if word.starts(with: "endif".utf8) {
      current = max(0, current - 1)
    }
  }

  /// Words that may stand before another of these words. The parser recurses for each.
  private static let prefixes: Set<String> = [
    "repeat", "try", "await", "inout", "some", "any", "each", "copy", "consume", "borrowing",
  ]
  /// How many links such a word counts for: it needs more of the parser's stack than a full stop.
  private static let weight = 4

  /// Counts a prefix word, and ends a run of them at any other word.
  private mutating func endOfWord(_ bytes: UnsafeBufferPointer<UInt8>, from index: Int) -> Int {
    let end = end(of: bytes, from: index) { !Self.isLetter($0) }
    // The longest of the words has nine letters. Longer ones aren't made into a string first.
    guard end - index < 10,
      Self.prefixes.contains(String(decoding: bytes[index..<end], as: UTF8.self))
    else {
      words = 0
      return end
    }
    // Spaces and line breaks between them don't end the run: `try` may be on a line of its own.
    words += Self.weight
    chain = max(chain, words)
    return end
  }

  /// Whether a byte is a letter of ASCII. The bit 0x20 is what lowercase letters have and capitals
  /// don't.
  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// Counts a byte that can be a link of a chain. The end of a line, a `;` or a `,` ends the chain.
  ///
  /// The characters are those for which the parser recurses or makes a deeper tree: member access
  /// and optional chaining, generic arguments, prefix operators, attributes, macros and key paths.
  private mutating func count(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "."), UInt8(ascii: "?"), UInt8(ascii: "!"), UInt8(ascii: "<"),
      UInt8(ascii: "&"),
      UInt8(ascii: "@"), UInt8(ascii: "#"), UInt8(ascii: "-"), UInt8(ascii: "~"),
      UInt8(ascii: "\\"):
      links += 1
      chain = max(chain, links)
    case UInt8(ascii: "\n"), UInt8(ascii: ";"), UInt8(ascii: ","):
      links = 0
    default: break
    }
  }

  /// The index of the next byte that stops; the count if there is none.
  private func end(
    of bytes: UnsafeBufferPointer<UInt8>, from index: Int, where stops: (UInt8) -> Bool
  ) -> Int {
    var index = index
    while index < bytes.count, !stops(bytes[index]) { index += 1 }
    return index
  }

  /// The end of a string, or of its line. In a string of several lines brackets are counted, which does no
  /// harm if they are closed.
  private func endOfString(_ bytes: UnsafeBufferPointer<UInt8>, from index: Int) -> Int {
    var index = index + 1
    while index < bytes.count {
      switch bytes[index] {
      // What follows a backslash is text, also if it is a quotation mark.
      case UInt8(ascii: "\\"): index += 1
      case UInt8(ascii: "\""), UInt8(ascii: "\n"): return index + 1
      default: break
      }
      index += 1
    }
    return bytes.count
  }
}
