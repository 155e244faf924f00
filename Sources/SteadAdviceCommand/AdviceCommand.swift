import Foundation
import SteadAdvice
import SteadLint

/// The command `stead advise`. The programs `stead-advise` and `stead` are thin wrappers around it.
public struct AdviceCommand: Sendable {
  /// The exit status of the process.
  public enum Exit: Int32, Sendable {
    case clean = 0
    /// Code keeps something in the wrong store.
    case found = 1
    /// The arguments are invalid, the input ended too early, or a folder can't be read.
    case failed = 2
  }

  /// The folder that paths are relative to.
  public let directory: URL
  /// Whether questions are answered at a terminal, which echoes the answers.
  public let isTerminal: Bool
  /// Returns the next line of standard input; nil at its end.
  public let readLine: @Sendable () -> String?
  /// Called with what goes to standard output.
  public let print: @Sendable (String) -> Void
  /// Called with what goes to standard error.
  public let complain: @Sendable (String) -> Void

  public init(
    directory: URL, isTerminal: Bool, readLine: @escaping @Sendable () -> String?,
    print: @escaping @Sendable (String) -> Void, complain: @escaping @Sendable (String) -> Void
  ) {
    self.directory = URL(filePath: directory.path, directoryHint: .isDirectory)
    self.isTerminal = isTerminal
    self.readLine = readLine
    self.print = print
    self.complain = complain
  }

  /// Runs the command with the arguments after its name.
  public func run(_ words: [String]) -> Exit {
    do {
      let arguments = try AdviceArguments(words)
      switch arguments.verb {
      case .help: print(Self.help)
      case .questions:
        try list((Question.all + Question.refinements).map(QuestionText.init), arguments)
      case .limits: try list(Threshold.all.map(LimitText.init), arguments)
      case .review(let path): return try review(path, arguments)
      case .advise: try advise(arguments)
      }
      return .clean
    } catch let error as UsageError {
      complain("stead advise: \(error.message)\n")
    } catch {
      complain("stead advise: \(error)\n")
    }
    return .failed
  }

  // MARK: Advice

  private func advise(_ arguments: AdviceArguments) throws {
    var situation = arguments.situation
    if !arguments.assumesUsual, !arguments.isJSON {
      let interview = Interview(ask: readLine, print: print, echoes: !isTerminal)
      let result = try interview.run(situation)
      situation = result.situation
      if result.hasEnded { complain("The input ended.\n") }
    }
    guard situation.kind != nil else {
      throw UsageError("The kind of data isn't known; answer the first question, or use --kind.")
    }
    let advice = Advisor.advice(for: situation)
    print(arguments.isJSON ? try json(advice) : advice.text)
    let open = openQuestions(situation)
    if !open.isEmpty {
      let assumptions = open.map { "\($0.id) (\($0.usual ?? ""))" }.joined(separator: ", ")
      complain("Not answered, so the usual answer is assumed: \(assumptions).\n")
    }
  }

  /// The questions that have no answer and could change the advice.
  private func openQuestions(_ situation: Situation) -> [Question] {
    var open: [Question] = []
    while let question = Advisor.nextQuestion(for: situation, skipping: Set(open.map(\.id))) {
      open.append(question)
    }
    return open
  }

  // MARK: Code

  private func review(_ path: String, _ arguments: AdviceArguments) throws -> Exit {
    let url = URL(filePath: path, relativeTo: directory).standardizedFileURL
    guard FileManager.default.fileExists(atPath: url.path) else {
      throw UsageError("\(path) doesn't exist; name a folder or a Swift file.")
    }
    var linter = Linter(root: url)
    linter.assumesCloudKit = arguments.assumesCloudKit
    let review = CodeReview(try linter.survey().prefixed(with: prefix(of: url)))
    print(arguments.isJSON ? try json(review) : review.text)
    return review.judgements.contains { $0.verdict == .move } ? .found : .clean
  }

  /// A prefix that makes the files' paths relative to the working directory.
  private func prefix(of url: URL) -> String {
    let folder = isFolder(url) ? url : url.deletingLastPathComponent()
    let here = directory.standardizedFileURL.pathComponents
    let there = folder.pathComponents
    guard there.starts(with: here) else { return folder.path + "/" }
    return there.dropFirst(here.count).map { $0 + "/" }.joined()
  }

  private func isFolder(_ url: URL) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
      && isFolder.boolValue
  }

  // MARK: Output

  private func list(
    _ entries: [some Encodable & CustomStringConvertible], _ arguments: AdviceArguments
  )
    throws
  {
    print(arguments.isJSON ? try json(entries) : entries.map(\.description).joined(separator: "\n"))
  }

  private func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
  }
}

extension AdviceCommand {
  static let help = """
    stead advise                    asks what the data is, and advises where it belongs
    stead advise --from-code PATH   lists what Swift code keeps, where it keeps it, and what should change
    stead advise questions          lists the questions, their answers and their reasons
    stead advise limits             lists the limits of the stores, with the measurements

      --kind KIND --size 10KB …     answers a question; each question is also an option
      --sharing, --retention, --platforms, --observers, --shape
                                    refine the advice, and are never asked; `questions` lists them
      --today STORE                 where the data is now; the advice then has the code that moves it
      --assume-usual                asks nothing, and assumes the usual answer where none is given
      --json                        writes JSON, and asks nothing
      --cloudkit                    with --from-code: checks models as if the app synced with CloudKit

    Answers are read from standard input, one per line: a name, a number from the list, or an empty line for the
    usual answer. If the input ends early, the advice uses the answers so far.

    Exits with 0, with 1 if code keeps something in the wrong store, and with 2 if it couldn't tell.

    """
}
