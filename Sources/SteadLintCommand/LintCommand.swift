import ArgumentParser
import Foundation
import SteadLint

/// The command `stead lint`, for programs that have a command line of their own.
///
/// It ends no process and reads no global state but the environment and the files, so a program can run it within
/// another command, and tests can look at what it prints:
///
/// ```swift
/// let command = LintCommand(directory: folder, print: { print($0, terminator: "") }, complain: { log($0) })
/// if command.run(["Sources", "--strict"]) != .clean { return }
/// ```
public struct LintCommand: Sendable {
  /// The exit status of the process.
  public enum Exit: Int32, Sendable {
    /// Nothing was found that fails a build, or a baseline was written.
    case clean = 0
    /// Errors were found, or warnings with `--strict`.
    case found = 1
    /// The arguments are invalid, or a file can't be read or written.
    case failed = 2
  }

  /// The folder that paths are relative to.
  public let directory: URL
  /// Called with what goes to standard output.
  public let print: @Sendable (String) -> Void
  /// Called with what goes to standard error.
  public let complain: @Sendable (String) -> Void

  /// Makes a command that runs in a folder.
  ///
  /// - Parameters:
  ///   - directory: The folder to which paths in arguments and in reports are relative; the process's own one isn't
  ///     used.
  ///   - print: Called with the report, or with help that was asked for. The strings have their line ends.
  ///   - complain: Called with the summary and with errors.
  public init(
    directory: URL, print: @escaping @Sendable (String) -> Void,
    complain: @escaping @Sendable (String) -> Void
  ) {
    // A path is resolved inside a URL's last component only if the URL is marked as a directory.
    self.directory = URL(filePath: directory.path, directoryHint: .isDirectory)
    self.print = print
    self.complain = complain
  }

  /// Runs the command with the arguments after its name, as in `["check", "Sources", "--fix"]`. Blocks until it is
  /// done. Errors are written by `complain`, and never thrown.
  public func run(_ words: [String]) -> Exit {
    let status = Lint.dispatch(words, print: print, complain: complain) { command in
      (command as? any LintVerb)?.run(self).rawValue
    }
    return Exit(rawValue: status) ?? .failed
  }

  /// Checks files and folders; the working directory if there are none.
  ///
  /// Every error ends here with a line for people: a program that runs the command must not be
  /// ended by it.
  func check(_ paths: [String], _ options: LintOptions) -> Exit {
    do {
      return try report(on: LintScope(paths: paths, directory: directory), options)
    } catch {
      complain("stead lint: \(error)\n")
      return .failed
    }
  }

  /// Fixes, checks and writes the report, in this order, as the options say.
  ///
  /// The exit code is of all findings, and `--level` only hides some: a hidden warning still fails a strict run. The
  /// stamp is written last, since a build system takes it for success.
  private func report(on scope: LintScope, _ options: LintOptions) throws -> Exit {
    var run = LintRun(scope: scope, options: options)
    if options.fixes {
      let count = try run.fix()
      // Not to standard output, which has the report alone, so that it can be piped.
      if !options.isQuiet { complain("\(count) \(count == 1 ? "fix" : "fixes") made.\n") }
    }
    let report = try run.report()
    // A run that writes a baseline accepts what it found, so it doesn't fail.
    if let file = options.newBaseline {
      try Baseline(report).write(to: url(file))
      complain("The baseline has \(report.findings.count) findings.\n")
      return .clean
    }
    // After the baseline, which has hidden findings as well.
    let shown = report.filtered { $0.level >= options.level }
    // Paths are made relative to the working directory last: fixes and the baseline need those of
    // the project.
    let text = try scope.placed(shown).formatted(as: options.format)
    if let output = options.output {
      try Data(text.utf8).write(to: url(output), options: .atomic)
    } else if !text.isEmpty {
      print(text)
    }
    // The other formats are for programs.
    if !options.isQuiet, options.format == .text { complain(summary(of: shown)) }
    // Of the whole report: `--level` decides what is shown, and not what fails.
    guard !isFailure(report, options) else { return .found }
    if let stamp = options.stamp { try Data().write(to: url(stamp)) }
    return .clean
  }

  /// Whether the findings fail a build: errors, and with `--strict` warnings.
  private func isFailure(_ report: LintReport, _ options: LintOptions) -> Bool {
    report.findings.contains { $0.level >= (options.isStrict ? .warning : .error) }
  }

  /// The URL of a path that an option names; an absolute path stays as it is.
  private func url(_ path: String) -> URL {
    URL(filePath: path, relativeTo: directory)
  }

  /// The last line of the output: counts of findings, of accepted ones, and of files that count as not compiled.
  private func summary(of report: LintReport) -> String {
    let counts = [Level.error, .warning, .note].map { level in
      (level, report.findings.count { $0.level == level })
    }
    let parts = counts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0.rawValue)\($0.1 == 1 ? "" : "s")" }
    let found = parts.isEmpty ? "nothing found" : parts.joined(separator: ", ")
    let hidden = [(report.suppressedCount, "disabled"), (report.knownCount, "known")]
      .filter { $0.0 > 0 }.map { ", \($0.0) \($0.1)" }.joined()
    let uncompiled = report.uncompiledCount
    let left =
      uncompiled == 0 ? "" : "; \(uncompiled) that no Xcode project lists count as not compiled"
    let files = report.fileCount == 1 ? "1 file" : "\(report.fileCount) files"
    return "\(files): \(found)\(hidden)\(left)\n"
  }
}

// MARK: - The command

/// Finds persistence mistakes: the command `stead lint`.
///
/// Its verb `check` may be left out. The parser returns one of the verbs, and ``LintCommand`` runs it.
package struct Lint: ParsableCommand {
  package static let configuration: CommandConfiguration = {
    var configuration = Self.configuration(of: "stead lint")
    // Only below `stead`. As a program of its own it has the parser's own `help`.
    configuration.subcommands.append(HelpVerb<Lint>.self)
    return configuration
  }()

  // Only what isn't positional: a path here would take the place of a verb.
  @OptionGroup var options: LintOptions

  package init() {}

  /// The configuration of a command with these verbs. The last word of its name is the command's.
  package static func configuration(of name: String) -> CommandConfiguration {
    CommandConfiguration(
      commandName: name.split(separator: " ").last.map(String.init),
      abstract: "Finds persistence mistakes in Swift files and folders; in . without a path.",
      usage: """
        \(name) [<options>] [<path> ...]
        \(name) rules [--markdown]
        \(name) explain <rule>
        """,
      discussion: """
        A comment disables a rule for its line, or for the next one. It needs a reason:
          // stead:disable P01 the token of a public demo
          // stead:disable:next P22 the next save reports it

        Exits with 0, with 1 if errors were found, and with 2 if it couldn't check.
        """,
      subcommands: [Check.self, Rules.self, Explain.self], defaultSubcommand: Check.self)
  }
}

/// A verb of the command. `LintCommand` does its work.
///
/// A verb alone has the process's own folder and streams. Through `LintCommand` it has those of the
/// program that runs it, and tests see what it prints.
package protocol LintVerb: ParsableCommand {
  /// Runs the verb with the folder and the output of a command.
  func run(_ command: LintCommand) -> LintCommand.Exit
}

extension LintVerb {
  package func run() throws {
    let command = LintCommand(
      directory: URL(filePath: FileManager.default.currentDirectoryPath),
      print: StandardStream.print,
      complain: StandardStream.complain)
    throw ExitCode(run(command).rawValue)
  }
}

// MARK: - Verbs

extension Lint {
  /// Checks paths; the default verb.
  package struct Check: LintVerb {
    package static let configuration = CommandConfiguration(
      abstract: "Finds mistakes. The word may be left out.")

    @OptionGroup var options: LintOptions

    @Argument(
      help: ArgumentHelp("A Swift file, or a folder.", valueName: "path"), completion: .file())
    var paths: [String] = []

    package init() {}

    package func run(_ command: LintCommand) -> LintCommand.Exit {
      command.check(paths, options)
    }
  }

  /// Lists the rules, or writes the page of Documentation/ about them.
  package struct Rules: LintVerb {
    package static let configuration = CommandConfiguration(abstract: "Lists the rules.")

    @Flag(name: .customLong("markdown"), help: "As a page with their reasons and examples.")
    var isMarkdown = false

    package init() {}

    package func run(_ command: LintCommand) -> LintCommand.Exit {
      command.print(isMarkdown ? RulePages.markdown : RuleText.list)
      return .clean
    }
  }

  /// Writes one rule's description with its examples.
  package struct Explain: LintVerb {
    package static let configuration = CommandConfiguration(
      abstract: "Says what a rule finds, why, and what to write instead.")

    @Argument(
      help: "Its identifier or name, such as P04.", completion: .rules, transform: Rule.required)
    var rule: Rule

    package init() {}

    package func run(_ command: LintCommand) -> LintCommand.Exit {
      command.print(RuleText.page(of: rule))
      return .clean
    }
  }
}

// MARK: - Options

/// The options of a run of the linter. The verbs take them, too, and use what concerns them.
package struct LintOptions: ParsableArguments {
  // The help of each option is its documentation.
  @Flag(name: .customLong("fix"), help: "Make the fixes that need no decision, then check again.")
  var fixes = false

  @Option(
    help: ArgumentHelp("Report only lines that changed since a git revision.", valueName: "rev"))
  var since: String?

  @Option(help: "The format of the report; sarif is SARIF 2.1.0, github annotates pull requests.")
  var format = ReportFormat.text

  @Option(
    name: .shortAndLong, help: ArgumentHelp("Write the report to a file.", valueName: "file"),
    completion: .file())
  var output: String?

  @Option(help: "Show findings of this level and above.")
  var level = Level.note

  @Flag(name: .customLong("strict"), help: "Exit with 1 for warnings, too.")
  var isStrict = false

  @Option(
    help: ArgumentHelp("Check only these rules, such as P01,P04.", valueName: "rules"),
    completion: .rules, transform: Rule.identifiers)
  var rules: Set<String> = []

  @Option(
    help: ArgumentHelp("Skip these rules.", valueName: "rules"), completion: .rules,
    transform: Rule.identifiers)
  var disable: Set<String> = []

  @Option(
    help: ArgumentHelp(
      "Hide the findings of a baseline; .stead-lint.json is used if it exists.", valueName: "file"),
    completion: .file())
  var baseline: String?

  @Option(
    name: .customLong("write-baseline"),
    help: ArgumentHelp(
      "Write all findings, and the shapes of stored types, to a baseline.", valueName: "file"),
    completion: .file())
  var newBaseline: String?

  @Flag(name: .customLong("cloudkit"), help: "Check models as if the app synced with CloudKit.")
  var assumesCloudKit = false

  @Option(
    help: ArgumentHelp("Keep the cache in this file.", valueName: "file"), completion: .file())
  var cache: String?

  @Flag(name: .customLong("no-cache"), help: "Keep no cache.")
  var isUncached = false

  @Option(
    help: ArgumentHelp(
      "Write an empty file if it exits with 0, for build systems.", valueName: "file"),
    completion: .file())
  var stamp: String?

  @Flag(name: [.customLong("quiet"), .customShort("q")], help: "Write no summary.")
  var isQuiet = false

  package init() {}

  package func validate() throws {
    let chosen = rules.isEmpty ? Set(Rule.all.map(\.id)) : rules
    // An empty set of rules would mean all of them.
    guard chosen.isSubset(of: disable) else { return }
    throw ValidationError("--disable leaves no rule to check. Skip fewer rules, or choose others.")
  }
}

extension ReportFormat: ExpressibleByArgument {}

extension Level: ExpressibleByArgument {}

extension CompletionKind {
  /// The identifiers of all rules, for the scripts that complete arguments in a shell.
  static var rules: CompletionKind { .list(Rule.all.map(\.id)) }
}

extension Rule {
  /// The rule with an identifier or a name.
  ///
  /// - Throws: A `ValidationError`, which ends the program with 2: a misspelled rule must not check
  ///   nothing.
  @Sendable static func required(_ name: String) throws -> Rule {
    guard let rule = named(name) else {
      throw ValidationError("\(name) isn't a rule; `stead lint rules` lists them.")
    }
    return rule
  }

  /// The identifiers of rules that are separated by commas.
  ///
  /// Names are accepted, too, and become identifiers, which ``Linter/rules`` takes.
  @Sendable static func identifiers(_ names: String) throws -> Set<String> {
    try Set(names.split(separator: ",").map { try required(String($0)).id })
  }
}
