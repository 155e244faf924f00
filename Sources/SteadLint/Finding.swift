/// A mistake that a rule found at a place in a file.
///
/// It has all that a report needs, so the source can be gone when it is shown. Two findings are
/// equal if the rule, the message and the place are: a run reports each once.
///
/// ```swift
/// for finding in report.findings where finding.level >= .warning {
///   print("\(finding.place.path):\(finding.place.line): \(finding.message) [\(finding.ruleID)]")
/// }
/// ```
public struct Finding: Codable, Hashable, Sendable {
  /// The rule's identifier, such as `P04`.
  public let ruleID: String
  /// The rule's name, such as `swallowed-decode-overwrites`.
  public let ruleName: String
  /// How severe it is. A rule has a level, and lowers it to a note where it is less certain.
  public let level: Level
  /// What is wrong, and what to write instead, in a sentence. It names identifiers and keys of the source, and no
  /// values of secrets.
  public let message: String
  /// Where it is, and the source line.
  public let place: Place
  /// The edits that correct it; nil if a person has to decide. ``LintReport/fixed(_:path:)`` makes them.
  public let fix: Fix?

  /// Makes a finding of a rule.
  ///
  /// - Parameters:
  ///   - message: What is wrong and what to write instead. A secret's value must not be in it,
  ///     since reports are uploaded.
  ///   - level: A level other than the rule's own, where the rule is less certain.
  ///   - fix: Edits that need no decision. None if a person has to choose.
  init(_ rule: RuleID, _ message: String, at place: Place, level: Level? = nil, fix: Fix? = nil) {
    ruleID = rule.id
    ruleName = rule.name
    self.level = level ?? rule.level
    self.message = message
    self.place = place
    self.fix = fix
  }

  /// A copy of a finding at another place.
  private init(_ finding: Finding, at place: Place) {
    ruleID = finding.ruleID
    ruleName = finding.ruleName
    level = finding.level
    message = finding.message
    fix = finding.fix
    self.place = place
  }

  /// The finding with a prefix before its path, which makes it relative to another folder.
  func prefixed(with prefix: String) -> Finding {
    Finding(self, at: place.prefixed(with: prefix))
  }

  /// Identifies a finding in a baseline.
  ///
  /// It has no line number, so it stays the same when lines above the finding are added or removed. It has
  /// the content of the line: whoever edits that line should see the finding again.
  ///
  /// The message tells apart several findings of one rule on one line. Equal lines of one file have
  /// equal fingerprints, which a baseline counts.
  var fingerprint: String {
    var digest = Digest()
    // Without its indentation, which changes when code around the line does.
    for part in [ruleID, place.path, place.sourceLine.trimmed, message] {
      digest.add(part)
    }
    return digest.description
  }
}

// MARK: - Level

/// How severe a finding is.
public enum Level: String, CaseIterable, Codable, Comparable, Sendable {
  /// Worth knowing; the code is often right.
  case note
  /// Data or time is lost in some case that users meet.
  case warning
  /// As it is, the code exposes a secret or loses data.
  case error

  /// The raw values are names, and their order as strings isn't that of the levels.
  private var rank: Int {
    switch self {
    case .note: 0
    case .warning: 1
    case .error: 2
    }
  }

  /// Notes come before warnings, and warnings before errors.
  public static func < (one: Level, other: Level) -> Bool {
    one.rank < other.rank
  }
}

/// The identifier, the name and the level of a rule.
///
/// It is apart from ``Rule``, so that a finding can be made without the rule's texts and code.
struct RuleID: Hashable, Sendable {
  /// A letter and a number, such as `P04`. It is in comments and baselines of projects, so it never
  /// changes.
  let id: String
  /// Such as `swallowed-decode-overwrites`, which comments may have in place of the identifier.
  let name: String
  /// The level of findings that are certain.
  let level: Level

  /// A comment that disables a rule without a reason.
  static let unexplainedSuppression = RuleID(
    id: "L01", name: "suppression-without-reason", level: .warning)
  /// A file that can't be read or doesn't parse, or that exceeds a limit.
  static let unreadFile = RuleID(id: "L02", name: "file-not-read", level: .warning)
}

// MARK: - Place

/// A range of a file, with its first line, so that a report needs no source.
///
/// Places are kept in the cache. They are right as long as the file's contents are the same.
public struct Place: Codable, Hashable, Sendable {
  /// The file's path, relative to the folder that was checked.
  public let path: String
  /// The first line is 1.
  public let line: Int
  /// In bytes of UTF-8, as compilers count; the first is 1. Editors that count UTF-16 have to convert it.
  public let column: Int
  /// How many bytes it has in its first line; at least 1.
  public let width: Int
  /// The first line's content without its end, cut to 400 bytes. Empty for a file that can't be read.
  public let sourceLine: String
  /// Whether it's in a preview, which runs while an app is developed and never for its users.
  let isInPreview: Bool

  /// The first byte, counted from the file's beginning.
  let offset: Int
  /// How many bytes it has in all of its lines. Zero for a file that can't be read.
  let length: Int

  /// The place with a prefix before its path.
  func prefixed(with prefix: String) -> Place {
    Place(
      path: prefix + path, line: line, column: column, width: width, sourceLine: sourceLine,
      isInPreview: isInPreview, offset: offset, length: length)
  }

  /// The order of a report: by path, then by position. A total order for places of different findings is in
  /// ``Screening``.
  func precedes(_ other: Place) -> Bool {
    if path != other.path { return path < other.path }
    return offset < other.offset
  }
}

// MARK: - Fix

/// Edits of one file that correct a finding. Offsets are those of the source that was checked, before any edit.
public struct Fix: Codable, Hashable, Sendable {
  /// Replaces bytes of a file with a string.
  public struct Edit: Codable, Hashable, Sendable {
    /// The first byte, counted from the file's beginning.
    public let offset: Int
    /// How many bytes are replaced; zero inserts.
    public let length: Int
    /// The new string.
    public let replacement: String
  }

  /// What the edits do, in a few words.
  public let title: String
  /// The edits, all of which are made, or none.
  public let edits: [Edit]

  /// Makes a fix of edits that don't overlap. Offsets are of the unchanged file, so their order
  /// doesn't matter.
  init(_ title: String, _ edits: [Edit]) {
    self.title = title
    self.edits = edits
  }
}

// MARK: - Digest

/// A digest that distinguishes files in a cache, and findings in a baseline: FNV-1a of 64 bits,
/// twice. It doesn't resist an attacker who chooses the files; the cache is the user's own.
///
/// A cryptographic digest would need a package that this target doesn't import. This one costs two
/// multiplications for each byte.
struct Digest: CustomStringConvertible {
  // FNV-1a, twice with different initial values: 128 bits make an accidental collision improbable.
  private var one: UInt64 = 0xcbf2_9ce4_8422_2325
  // The first start is the offset basis of FNV, and the factor below its prime. The second start is
  // arbitrary.
  private var other: UInt64 = 0x9ae1_6a3b_2f90_404f

  /// Adds bytes. Several calls give the same digest as one with all bytes.
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    for byte in bytes {
      one = (one ^ UInt64(byte)) &* 0x100_0000_01b3
      other = (other ^ UInt64(byte) &+ 0x9e37) &* 0x100_0000_01b3
    }
  }

  /// Adds a string and a terminator, so that the strings `ab`, `c` differ from `a`, `bc`.
  mutating func add(_ string: String) {
    var string = string + "\0"
    string.withUTF8 { add(UnsafeRawBufferPointer($0)) }
  }

  /// The digest as 32 hexadecimal digits.
  var description: String {
    hexadecimal(one) + hexadecimal(other)
  }

  /// A number as 16 digits, so that digests have one length.
  private func hexadecimal(_ word: UInt64) -> String {
    let digits = String(word, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
