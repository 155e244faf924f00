import Foundation
import SteadLint

/// The command `stead lint`. The programs `stead-lint` and `stead` are thin wrappers around it.
public struct LintCommand: Sendable {
  /// The exit status of the process.
  public enum Exit: Int32, Sendable {
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

  public init(
    directory: URL, print: @escaping @Sendable (String) -> Void,
    complain: @escaping @Sendable (String) -> Void
  ) {
    // A path is resolved inside a URL's last component only if the URL is marked as a directory.
    self.directory = URL(filePath: directory.path, directoryHint: .isDirectory)
    self.print = print
    self.complain = complain
  }

  /// Runs the command with the arguments after its name.
  public func run(_ words: [String]) -> Exit {
    do {
      let arguments = try LintArguments(words)
      switch arguments.verb {
      case .help: print(Self.help)
      case .rules: print(arguments.isMarkdown ? RulePages.markdown : RuleText.list)
      case .explain(let name): return explain(name)
      case .check: return try check(arguments)
      }
      return .clean
    } catch let error as UsageError {
      complain("stead lint: \(error.message)\n")
    } catch {
      complain("stead lint: \(error)\n")
    }
    return .failed
  }

  private func explain(_ name: String) -> Exit {
    guard let rule = Rule.named(name) else {
      complain("stead lint: \(name) isn't a rule; `stead lint rules` lists them.\n")
      return .failed
    }
    print(RuleText.page(of: rule))
    return .clean
  }

  private func check(_ arguments: LintArguments) throws -> Exit {
    let scope = try LintScope(paths: arguments.paths, directory: directory)
    var run = LintRun(scope: scope, arguments: arguments)
    if arguments.fixes {
      let count = try run.fix()
      if !arguments.isQuiet { complain("\(count) \(count == 1 ? "fix" : "fixes") made.\n") }
    }
    let report = try run.report()
    if let file = arguments.newBaseline {
      try Baseline(report).write(to: url(file))
      complain("The baseline has \(report.findings.count) findings.\n")
      return .clean
    }
    let shown = report.filtered { $0.level >= arguments.level }
    let text = try scope.placed(shown).formatted(as: arguments.format)
    if let output = arguments.output {
      try Data(text.utf8).write(to: url(output), options: .atomic)
    } else if !text.isEmpty {
      print(text)
    }
    if !arguments.isQuiet, arguments.format == .text { complain(summary(of: shown)) }
    guard !isFailure(report, arguments) else { return .found }
    if let stamp = arguments.stamp { try Data().write(to: url(stamp)) }
    return .clean
  }

  private func isFailure(_ report: LintReport, _ arguments: LintArguments) -> Bool {
    report.findings.contains { $0.level >= (arguments.isStrict ? .warning : .error) }
  }

  private func url(_ path: String) -> URL {
    URL(filePath: path, relativeTo: directory)
  }

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

extension LintCommand {
  static let help = """
    stead lint [PATH…]        finds persistence mistakes in Swift files and folders; in `.` without a path
    stead lint rules          lists the rules; as a page with --markdown
    stead lint explain RULE   says what a rule finds, why, and what to write instead

      --fix                   makes the fixes that need no decision, then checks again
      --since REV             reports only lines that changed since a git revision
      --format FORMAT         text (the default), json, sarif (2.1.0) or github
      --output FILE           writes the report to a file
      --level LEVEL           shows findings of this level and above: note, warning, error
      --strict                exits with 1 for warnings, too
      --rules P01,P04         checks only these rules
      --disable P09           skips these rules
      --baseline FILE         hides the findings of a baseline; .stead-lint.json is used if it exists
      --write-baseline FILE   writes all findings, and the shapes of stored types, to a baseline
      --cloudkit              checks models as if the app synced with CloudKit
      --cache FILE            keeps the cache in this file; --no-cache keeps none
      --stamp FILE            writes an empty file if it exits with 0, for build systems
      --quiet                 writes no summary

    A comment disables a rule for its line, or for the next one. It needs a reason:
      // stead:disable P01 the token of a public demo
      // stead:disable:next P22 the next save reports it

    Exits with 0, with 1 if errors were found, and with 2 if it couldn't check.

    """
}
