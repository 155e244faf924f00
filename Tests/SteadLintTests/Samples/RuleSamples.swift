import Testing

/// Code for which a rule's findings are known.
///
/// A line that ends in `// !` is flagged with a warning or an error, one that ends in `// ?` with a note, and no other line
/// is. A line `// file: NAME` begins another file; what stands before the first one is `App.swift`.
struct RuleSamples: Sendable, CustomTestStringConvertible {
  let rule: String
  let flagged: [String]
  let silent: [String]

  var testDescription: String { rule }

  static let all: [RuleSamples] = [
    p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15, p16, p17, p18, p19,
    p20, p21, p22, p23, p24, p25, p26,
    p27, p28, p29, p30,
  ]

  /// The samples, and some that another file has.
  func adding(_ more: (flagged: [String], silent: [String])) -> RuleSamples {
    RuleSamples(rule: rule, flagged: flagged + more.flagged, silent: silent + more.silent)
  }

  /// The version before and the version of a sample that shows two; nil for what stood before in one that shows one.
  static func versions(of sample: String) -> (earlier: String?, now: String) {
    let parts = sample.split(separator: "\n// later\n", maxSplits: 1).map(String.init)
    return parts.count == 2 ? (parts[0], parts[1]) : (nil, sample)
  }

  /// The files of a sample, by their paths.
  static func files(of sample: String) -> [String: String] {
    var files: [String: String] = [:]
    var name = "App.swift"
    for line in sample.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("// file: ") {
        name = String(line.dropFirst("// file: ".count))
        files[name] = ""
      } else {
        files[name, default: ""] += line + "\n"
      }
    }
    return files
  }

  /// The lines that a sample's marks name, such as `App.swift:3 note`.
  static func marks(of sample: String) -> Set<String> {
    var marks: Set<String> = []
    for (path, content) in files(of: sample) {
      for (index, line) in content.split(separator: "\n", omittingEmptySubsequences: false)
        .enumerated()
      {
        if line.hasSuffix("// !") { marks.insert("\(path):\(index + 1)") }
        if line.hasSuffix("// ?") { marks.insert("\(path):\(index + 1) note") }
      }
    }
    return marks
  }
}
