import Foundation
import SteadLint

/// The command `stead lint`, for programs that have a command line of their own.
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
    let status = Lint.dispatch(words, print: print, complain: complain) { command in
      (command as? any LintVerb)?.run(self).rawValue
    }
    return Exit(rawValue: status) ?? .failed
  }

  /// Checks files and folders; the working directory if there are none.
  func check(_ paths: [String], _ options: LintOptions) -> Exit {
    do {
      return try report(on: LintScope(paths: paths, directory: directory), options)
    } catch {
      complain("stead lint: \(error)\n")
      return .failed
    }
  }

  private func report(on scope: LintScope, _ options: LintOptions) throws -> Exit {
    var run = LintRun(scope: scope, options: options)
    if options.fixes {
      let count = try run.fix()
      if !options.isQuiet { complain("\(count) \(count == 1 ? "fix" : "fixes") made.\n") }
    }
    let report = try run.report()
    if let file = options.newBaseline {
      try Baseline(report).write(to: url(file))
      complain("The baseline has \(report.findings.count) findings.\n")
      return .clean
    }
    let shown = report.filtered { $0.level >= options.level }
    let text = try scope.placed(shown).formatted(as: options.format)
    if let output = options.output {
      try Data(text.utf8).write(to: url(output), options: .atomic)
    } else if !text.isEmpty {
      print(text)
    }
    if !options.isQuiet, options.format == .text { complain(summary(of: shown)) }
    guard !isFailure(report, options) else { return .found }
    if let stamp = options.stamp { try Data().write(to: url(stamp)) }
    return .clean
  }

  private func isFailure(_ report: LintReport, _ options: LintOptions) -> Bool {
    report.findings.contains { $0.level >= (options.isStrict ? .warning : .error) }
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
