import Foundation
import SteadAdvice

/// A parsed command line.
struct AdviceArguments {
  enum Verb {
    case advise
    case review(path: String)
    case questions
    case limits
    case help
  }

  var verb = Verb.advise
  var situation = Situation()
  var isJSON = false
  var assumesUsual = false
  var assumesCloudKit = false

  init(_ words: [String]) throws(UsageError) {
    var words = words[...]
    switch words.first {
    case "questions": verb = .questions
    case "limits": verb = .limits
    case "help", "--help", "-h": verb = .help
    default:
      while let word = words.popFirst() { try take(word, from: &words) }
      return
    }
    for word in words.dropFirst() {
      guard word == "--json" else { throw Self.unknown(word) }
      isJSON = true
    }
  }

  private mutating func take(_ word: String, from words: inout ArraySlice<String>)
    throws(UsageError)
  {
    let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
    if parts.count == 2, word.hasPrefix("--") {
      words.insert(parts[1], at: words.startIndex)
      guard !Self.flags.contains(parts[0]) else { throw UsageError("\(parts[0]) takes no value.") }
    }
    let option = parts.count == 2 && word.hasPrefix("--") ? parts[0] : word
    switch option {
    case "--json": isJSON = true
    case "--assume-usual": assumesUsual = true
    case "--cloudkit": assumesCloudKit = true
    case "--from-code": verb = .review(path: try value(of: option, from: &words))
    case "--today":
      let name = try value(of: option, from: &words)
      guard let store = Store(rawValue: name) else {
        throw UsageError(
          "--today must be one of \(Store.allCases.map(\.rawValue).joined(separator: ", ")), not \(name)."
        )
      }
      situation.today = store
    default: try answer(option, from: &words)
    }
  }

  private mutating func answer(_ option: String, from words: inout ArraySlice<String>)
    throws(UsageError)
  {
    let questions = Question.all + Question.refinements
    guard let question = questions.first(where: { "--" + $0.id == option }) else {
      throw Self.unknown(option)
    }
    let value = try value(of: option, from: &words)
    guard question.answer(value, in: &situation) else {
      throw UsageError("\(option) \(question.expectation), not \(value).")
    }
  }

  private func value(of option: String, from words: inout ArraySlice<String>) throws(UsageError)
    -> String
  {
    guard let value = words.popFirst() else { throw UsageError("\(option) needs a value.") }
    return value
  }

  private static let flags: Set<String> = ["--json", "--assume-usual", "--cloudkit"]

  private static func unknown(_ word: String) -> UsageError {
    UsageError("\(word) isn't an option; `help` lists them.")
  }
}

extension Question {
  /// What an answer must be, as the end of a sentence.
  var expectation: String {
    if self == .amount { return "must be a number, a size or both, such as 500 of 10KB" }
    return isNumber
      ? "must be a number such as 500, 10KB or 1.5MB"
      : "must be one of \(choices.map(\.name).joined(separator: ", "))"
  }
}
