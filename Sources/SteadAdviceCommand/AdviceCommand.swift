import ArgumentParser
import Foundation
import SteadAdvice
import SteadLint

/// The command `stead advise`, for programs that have a command line of their own.
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
    let status = Advise.dispatch(words, print: print, complain: complain) { command in
      (command as? any AdviceVerb)?.run(self).rawValue
    }
    return Exit(rawValue: status) ?? .failed
  }

  /// Runs an action, and reports what it throws.
  private func reporting(_ action: () throws -> Exit) -> Exit {
    do {
      return try action()
    } catch {
      complain("stead advise: \(error)\n")
      return .failed
    }
  }

  // MARK: Advice

  /// Advises on some data. Asks what isn't known of it, if a person is to be asked.
  func advise(_ known: Situation, assumesUsual: Bool, _ format: AdviceFormat) -> Exit {
    reporting {
      var situation = known
      if !assumesUsual, !format.isJSON {
        let interview = Interview(ask: readLine, print: print, echoes: !isTerminal)
        let result = try interview.run(situation)
        situation = result.situation
        if result.hasEnded { complain("The input ended.\n") }
      }
      guard situation.kind != nil else {
        throw ValidationError(
          "The kind of data isn't known; answer the first question, or use --kind.")
      }
      let advice = Advisor.advice(for: situation)
      print(format.isJSON ? try json(advice) : advice.text)
      let open = openQuestions(situation)
      if !open.isEmpty {
        let assumptions = open.map { "\($0.id) (\($0.usual ?? ""))" }.joined(separator: ", ")
        complain("Not answered, so the usual answer is assumed: \(assumptions).\n")
      }
      return .clean
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

  /// Reviews the code of a folder or a file.
  func review(_ path: String, assumesCloudKit: Bool, _ format: AdviceFormat) -> Exit {
    reporting {
      let url = URL(filePath: path, relativeTo: directory).standardizedFileURL
      guard FileManager.default.fileExists(atPath: url.path) else {
        throw ValidationError("\(path) doesn't exist; name a folder or a Swift file.")
      }
      var linter = Linter(root: url)
      linter.assumesCloudKit = assumesCloudKit
      let review = CodeReview(try linter.survey().prefixed(with: prefix(of: url)))
      print(format.isJSON ? try json(review) : review.text)
      return review.judgements.contains { $0.verdict == .move } ? .found : .clean
    }
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

  /// Writes entries one after the other, or as a list in JSON.
  func list(_ entries: [some Encodable & CustomStringConvertible], _ format: AdviceFormat) -> Exit {
    reporting {
      print(format.isJSON ? try json(entries) : entries.map(\.description).joined(separator: "\n"))
      return .clean
    }
  }

  private func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
  }
}
