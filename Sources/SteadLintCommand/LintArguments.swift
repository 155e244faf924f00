import Foundation
import SteadLint

/// A parsed command line.
struct LintArguments {
  enum Verb {
    case check
    case rules
    case explain(String)
    case help
  }

  var verb = Verb.check
  var paths: [String] = []
  var format = ReportFormat.text
  var output: String?
  var level = Level.note
  var rules: Set<String> = []
  var disabled: Set<String> = []
  var baseline: String?
  var newBaseline: String?
  /// A file that is written if nothing failed. A build system takes it as the step's output.
  var stamp: String?
  var isMarkdown = false
  var cache: String?
  var usesCache = true
  var since: String?
  var fixes = false
  var isStrict = false
  var isQuiet = false
  var assumesCloudKit = false

  init(_ words: [String]) throws(UsageError) {
    var words = words[...]
    switch words.first {
    case "rules":
      verb = .rules
      words = words.dropFirst()
    case "explain":
      guard words.count == 2, let rule = words.last else {
        throw UsageError("`explain` needs a rule's identifier or name, such as P04.")
      }
      verb = .explain(rule)
      return
    case "help", "--help", "-h":
      verb = .help
      return
    default: break
    }
    while let word = words.popFirst() {
      if word == "--" {
        paths += words
        return
      }
      try take(word, from: &words)
    }
  }

  private mutating func take(_ word: String, from words: inout ArraySlice<String>)
    throws(UsageError)
  {
    switch word {
    case "--fix": fixes = true
    case "--strict": isStrict = true
    case "--quiet", "-q": isQuiet = true
    case "--cloudkit": assumesCloudKit = true
    case "--no-cache": usesCache = false
    case "--format": format = try choice(of: word, from: &words)
    case "--level": level = try choice(of: word, from: &words)
    case "--output", "-o": output = try value(of: word, from: &words)
    case "--baseline": baseline = try value(of: word, from: &words)
    case "--write-baseline": newBaseline = try value(of: word, from: &words)
    case "--stamp": stamp = try value(of: word, from: &words)
    case "--markdown": isMarkdown = true
    case "--cache": cache = try value(of: word, from: &words)
    case "--since": since = try value(of: word, from: &words)
    case "--rules": rules = try identifiers(of: word, from: &words)
    case "--disable": disabled = try identifiers(of: word, from: &words)
    case let word where word.hasPrefix("-"):
      throw UsageError("\(word) isn't an option; `help` lists them.")
    default: paths.append(word)
    }
  }

  private func value(of option: String, from words: inout ArraySlice<String>) throws(UsageError)
    -> String
  {
    guard let value = words.popFirst() else { throw UsageError("\(option) needs a value.") }
    return value
  }

  private func choice<Choice: RawRepresentable & CaseIterable>(
    of option: String, from words: inout ArraySlice<String>
  ) throws(UsageError) -> Choice where Choice.RawValue == String {
    let text = try value(of: option, from: &words)
    guard let choice = Choice(rawValue: text) else {
      let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError("\(option) must be one of \(choices), not \(text).")
    }
    return choice
  }

  private func identifiers(of option: String, from words: inout ArraySlice<String>)
    throws(UsageError)
    -> Set<String>
  {
    let names = try value(of: option, from: &words).split(separator: ",").map(String.init)
    var found: Set<String> = []
    for name in names {
      guard let rule = Rule.named(name) else {
        throw UsageError("\(name) isn't a rule; `rules` lists them.")
      }
      found.insert(rule.id)
    }
    return found
  }
}
