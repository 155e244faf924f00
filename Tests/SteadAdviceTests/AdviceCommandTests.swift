import ArgumentParser
import Foundation
import SteadAdvice
import SteadAdviceCommand
import Synchronization
import Testing

/// The command line: by options, and with answers from standard input.
struct AdviceCommandTests {
  /// Lines of an input, and what was written meanwhile.
  final class Terminal: Sendable {
    private let state: Mutex<(lines: [String], text: String, complaints: String)>

    init(_ lines: [String]) { state = Mutex((lines, "", "")) }

    func readLine() -> String? {
      state.withLock { $0.lines.isEmpty ? nil : $0.lines.removeFirst() }
    }
    func print(_ text: String) { state.withLock { $0.text += text } }
    func complain(_ text: String) { state.withLock { $0.complaints += text } }
    var text: String { state.withLock(\.text) }
    var complaints: String { state.withLock(\.complaints) }
    var remaining: Int { state.withLock(\.lines.count) }
  }

  struct Outcome {
    let exit: AdviceCommand.Exit
    let terminal: Terminal
    var text: String { terminal.text }
    var complaints: String { terminal.complaints }
  }

  private func run(
    _ words: String..., answering lines: [String] = [], isTerminal: Bool = false
  ) -> Outcome {
    let terminal = Terminal(lines)
    return Outcome(exit: command(terminal, isTerminal).run(words), terminal: terminal)
  }

  private func command(_ terminal: Terminal, _ isTerminal: Bool = false) -> AdviceCommand {
    AdviceCommand(
      directory: FileManager.default.temporaryDirectory, isTerminal: isTerminal,
      readLine: { terminal.readLine() }, print: { terminal.print($0) },
      complain: { terminal.complain($0) })
  }

  // MARK: Questions

  @Test func `asks with reasons until it is clear`() {
    let outcome = run(answering: ["secret", "40", "not read"])
    #expect(outcome.exit == .clean)
    #expect(outcome.terminal.remaining == 1)
    for part in [
      "What is it?", "Each store is made for one kind of data.", "  2 secret    a password",
      "How many bytes does one have?", "Any number, such as 1 KB, 20 KB, 500 KB, 5 MB.",
      "Without an answer: small.", "Keep it in secrets (the keychain).", "import SteadSecrets",
    ] {
      #expect(outcome.text.contains(part), "\(part)")
    }
    #expect(outcome.complaints == "")
  }

  @Test func `takes names, numbers and nothing`() {
    let byName = run(answering: ["payloads", "harmless", "300 of 2KB", "whole", "one"])
    let byNumber = run(answering: [" 4 ", "1", "300 x 2 KB", "1", "1"])
    #expect(byName.exit == .clean && byNumber.exit == .clean)
    func advice(_ outcome: Outcome) -> Substring? {
      outcome.text.firstRange(of: "Keep it in").map { outcome.text[$0.lowerBound...] }
    }
    #expect(advice(byName)?.hasPrefix("Keep it in a payload history") == true)
    #expect(advice(byName) == advice(byNumber))
  }

  /// Answers that a terminal doesn't show are written behind the questions.
  @Test func `echoes answers of a pipe`() {
    #expect(run("--kind", "secret", answering: ["40"]).text.contains("> 40\n"))
    let terminal = run("--kind", "secret", answering: ["40"], isTerminal: true)
    #expect(terminal.text.contains("> \nKeep it in secrets"))
  }

  @Test func `asks again and then ends`() {
    let outcome = run("--kind", "secret", answering: ["many", "-1", "40"])
    #expect(outcome.exit == .clean)
    #expect(outcome.text.contains("The answer must be a number such as 500, 10KB or 1.5MB"))
    let endless = run(answering: Array(repeating: "y", count: 9))
    #expect(endless.exit == .failed)
    #expect(endless.terminal.remaining == 4)
    #expect(
      endless.complaints
        == "stead advise: `kind` had no valid answer in 5 attempts; `stead advise questions` lists the answers.\n"
    )
  }

  @Test func `the first question needs an answer`() {
    let outcome = run(answering: ["", "managed"])
    #expect(outcome.exit == .clean)
    #expect(outcome.text.contains("Keep it in managed preferences."))
  }

  @Test func `the end of the input is said`() {
    let silent = run()
    #expect(silent.exit == .failed)
    #expect(
      silent.complaints
        == "The input ended.\nstead advise: The kind of data isn't known; answer the first question, or use --kind.\n"
    )
    let early = run(answering: ["payloads", "harmless"])
    #expect(early.exit == .clean)
    #expect(early.text.contains("Keep it in a payload history"))
    #expect(
      early.complaints.hasPrefix(
        "The input ended.\nNot answered, so the usual answer is assumed: amount (one, and small), ")
    )
  }

  // MARK: Options

  @Test func `options answer and are not asked`() throws {
    let outcome = run(
      "--kind", "payloads", "--count=5,000", "--size", "10KB", "--access", "whole", "--devices",
      "one", "--exposure", "harmless", "--ground", "new")
    #expect(outcome.exit == .clean)
    #expect(outcome.text.hasPrefix("Keep it in records (SwiftData)."))
    #expect(outcome.complaints == "")
  }

  @Test func `usual answers are named`() {
    let outcome = run("--kind", "setting", "--assume-usual", answering: ["not read"])
    #expect(outcome.terminal.remaining == 1)
    #expect(outcome.text.hasPrefix("Keep it in preferences (UserDefaults)."))
    #expect(
      outcome.complaints.hasPrefix(
        "Not answered, so the usual answer is assumed: exposure (no harm)"))
  }

  @Test func `JSON is an advice`() throws {
    let outcome = run(
      "--kind", "payloads", "--count", "5000", "--today", "payload-history", "--json",
      answering: ["not read"])
    #expect(outcome.terminal.remaining == 1)
    let advice = try JSONDecoder().decode(Advice.self, from: Data(outcome.text.utf8))
    #expect(advice.version == 1)
    #expect(advice.store == .records)
    #expect(advice.move == Move.between(.payloadHistory, .records))
    #expect(advice.situation.count == 5_000)
  }

  @Test func `what is there is moved`() {
    let moved = run("--kind", "secret", "--size", "40", "--today", "preferences").text
    #expect(
      moved.contains(
        "Move the data out of preferences (UserDefaults):\n\n    import SteadPreferences"))
    #expect(moved.contains("SecretEntry(account:"))
    let stays = run("--kind", "secret", "--size", "40", "--today", "secrets").text
    #expect(stays.hasSuffix("It is already there.\n"))
    let unknown = run("--kind", "managed", "--today", "disk-cache").text
    #expect(unknown.contains("No move from a cache on disk is known"))
  }

  @Test(arguments: [
    ["--kind", "thing"], ["--kind"], ["--count", "many"], ["--size", "-1"], ["--json=1"], ["now"],
    ["--today", "paper"], ["--from-code"], ["questions", "--kind"],
  ])
  func `what isn't a command line is refused`(words: [String]) {
    let terminal = Terminal([])
    #expect(command(terminal).run(words) == .failed)
    #expect(terminal.complaints.hasPrefix("Error: "))
    #expect(terminal.complaints.contains("\nUsage: stead advise "))
    #expect(terminal.text == "")
  }

  @Test(arguments: [["--from-code", "missing"], ["--json"]])
  func `what can't be told is reported`(words: [String]) {
    let terminal = Terminal([])
    #expect(command(terminal).run(words) == .failed)
    #expect(terminal.complaints.hasPrefix("stead advise: "))
    #expect(terminal.text == "")
  }

  @Test(arguments: Question.all + Question.refinements)
  func `every question is an option`(question: Question) throws {
    for choice in question.choices {
      var situation = Situation()
      #expect(question.answer(choice.name, in: &situation))
      let options = try AdviceOptions.parse(["--" + question.id, choice.name])
      #expect(options.situation == situation)
    }
    #expect(run("--help").text.contains("--\(question.id) <\(question.id)>"))
  }

  @Test func `questions and limits are listed`() throws {
    let questions = run("questions")
    for question in Question.all {
      #expect(questions.text.contains("--\(question.id)  \(question.text) \(question.reason)\n"))
      #expect(!question.reason.isEmpty)
    }
    let limits = run("limits").text
    for threshold in Threshold.all { #expect(limits.contains(threshold.text)) }
    let list = try #require(
      try JSONSerialization.jsonObject(with: Data(run("limits", "--json").text.utf8))
        as? [[String: Any]])
    #expect(list.count == Threshold.all.count)
    #expect(run("help").text.contains("USAGE: stead advise [<options>]"))
  }

  // MARK: Documentation

  /// The rows of the table: options, and the store that they lead to.
  private func documentedRows() throws -> [(options: String, store: String)] {
    let page = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Documentation/Advice.md")
    return try String(contentsOf: page, encoding: .utf8).split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|").map {
        $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
      }
      return cells.count == 3 && cells[1].hasPrefix("--kind") ? (cells[1], cells[2]) : nil
    }
  }

  @Test func `the questions of the page have its answers`() throws {
    let rows = try documentedRows()
    #expect(rows.count >= 15)
    for (options, store) in rows {
      let terminal = Terminal([])
      let command = AdviceCommand(
        directory: FileManager.default.temporaryDirectory, isTerminal: false,
        readLine: { nil }, print: { terminal.print($0) }, complain: { _ in })
      let words = options.split(separator: " ").map(String.init)
      #expect(command.run(words + ["--json"]) == .clean)
      let advice = try JSONDecoder().decode(Advice.self, from: Data(terminal.text.utf8))
      #expect(advice.store.rawValue == store, "\(options)")
    }
  }
}
