import Foundation
import SteadLint

/// A run of the linter with the options of a command line. It turns them into a ``Linter``'s settings, and may be run
/// several times: git is asked again after fixes, since lines have moved.
struct LintRun {
  /// What is read and what of it is reported.
  private let scope: LintScope
  private let options: LintOptions
  /// The settings so far. The cache and the baseline are set before each run.
  private var linter: Linter
  /// The lines that changed since the revision of `--since`; nil without it, and after fixes.
  private var changes: ChangedLines?

  /// The maximum number of rounds of fixes. A fix that overlaps another waits for the next round. A
  /// fix that caused a new finding with a fix would otherwise go on forever.
  private static let rounds = 5

  /// The maximum length of a cache's name in bytes, without its extension. File systems allow 255.
  private static let nameLimit = 200

  /// Takes the options that need no file. Nothing is read yet.
  init(scope: LintScope, options: LintOptions) {
    self.scope = scope
    self.options = options
    linter = Linter(root: scope.root)
    let chosen = options.rules.isEmpty ? Set(Rule.all.map(\.id)) : options.rules
    linter.rules = chosen.subtracting(options.disable)
    linter.assumesCloudKit = options.assumesCloudKit
  }

  /// The findings that the command line asks for.
  ///
  /// Costs a run of the linter, and with `--since` a second one on the earlier revision, without
  /// its cache.
  mutating func report() throws -> LintReport {
    try prepare()
    return try linter.run().filtered { finding in
      scope.isReported(finding) && (changes?.contains(finding) ?? true)
    }
  }

  /// Makes fixes in the files, and returns how many. Runs again after each round, until nothing is left to fix or
  /// after `rounds`.
  ///
  /// Each file is replaced atomically. If one can't be written, the files before it stay fixed.
  mutating func fix() throws -> Int {
    var total = 0
    for _ in 0..<Self.rounds {
      let found = try report()
      var count = 0
      // Sorted, so that a run that fails at a file has always fixed the same ones before.
      for path in Set(found.findings.filter { $0.fix != nil }.map(\.place.path)).sorted() {
        count += try fix(path, of: found)
      }
      total += count
      // Places have moved, so the changed lines have to be asked for again: git compares with the files as they are
      // now.
      changes = nil
      if count == 0 { break }
    }
    return total
  }

  /// Makes the fixes of one file, unless the source before or after them has a syntax error. A fix must never break a
  /// file that was whole, and in a broken one the parser may have misread the place.
  private func fix(_ path: String, of report: LintReport) throws -> Int {
    let url = scope.root.appending(path: path)
    let source = try String(contentsOf: url, encoding: .utf8)
    let (fixed, count) = report.fixed(source, path: path)
    guard count > 0, try isReadable(fixed, path), try isReadable(source, path) else { return 0 }
    // Atomic: a full disk must not leave half of a person's source file.
    try Data(fixed.utf8).write(to: url, options: .atomic)
    return count
  }

  /// Whether the parser understands all of a file. Other files aren't edited.
  ///
  /// A linter with its default limits, so a file beyond them isn't edited either.
  private func isReadable(_ source: String, _ path: String) throws -> Bool {
    try !Linter(root: scope.root).run(sources: [path: source]).findings.contains {
      $0.ruleID == "L02"
    }
  }

  /// Sets the cache, the baseline and, with `--since`, the changed lines and the types of that revision.
  private mutating func prepare() throws {
    linter.cacheFile = options.isUncached ? nil : try cacheFile()
    if let file = options.baseline {
      linter.baseline = try Baseline(contentsOf: URL(filePath: file, relativeTo: directory))
    } else if options.newBaseline == nil, FileManager.default.fileExists(atPath: ownBaseline.path) {
      // Not while a new one is written: that has to have what the old one hides.
      linter.baseline = try Baseline(contentsOf: ownBaseline)
    }
    // Asked once, until ``fix()`` resets it: git needs a process for each changed file.
    guard let revision = options.since, changes == nil else { return }
    let git = GitHistory(folder: scope.root)
    let changed = try ChangedLines(git.changes(since: revision))
    changes = changed
    // The types at that revision, so that P06 sees which fields are newer.
    var earlier = linter
    // The payloads are all that is needed of this run. Its cache would replace that of the files as
    // they are.
    earlier.baseline = nil
    earlier.cacheFile = nil
    earlier.replacements = try git.contents(of: changed.paths, at: revision)
    linter.adopt(payloadsOf: try earlier.run())
  }

  /// Makes a folder and its missing parents, each for its owner alone.
  ///
  /// The call with intermediate folders leaves their permissions to the umask, and some let nobody enter them.
  private func makeFolder(_ folder: URL) throws {
    let files = FileManager.default
    guard !files.fileExists(atPath: folder.path) else { return }
    try makeFolder(folder.deletingLastPathComponent())
    try files.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  /// The folder that paths in options are relative to.
  private var directory: URL { scope.directory }
  /// The baseline that is used without an option, if it exists.
  private var ownBaseline: URL { scope.root.appending(path: ".stead-lint.json") }

  /// A file for each project in the user's cache directory. The project's path identifies it.
  ///
  /// Two projects may get the same name. Each then replaces the other's cache, which costs time
  /// alone: a record counts only for a file with its path and its bytes.
  private func cacheFile() throws -> URL? {
    if let file = options.cache { return URL(filePath: file, relativeTo: directory) }
    // Without a folder for it the run uses no cache, and parses all files.
    guard let folder = Self.caches?.appending(path: "stead-lint"), (try? makeFolder(folder)) != nil
    else { return nil }
    // The end of the path tells projects apart, where a name must be shorter than the whole.
    let name = scope.root.path.map { $0.isLetter || $0.isNumber ? $0 : "-" }
    var end = String(name)
    // A file system limits bytes, not characters.
    while end.utf8.count > Self.nameLimit { end.removeFirst() }
    return folder.appending(path: end + ".cache")
  }

  /// The user's cache directory; nil without a home, which may not be mounted, and isn't created.
  ///
  /// A variable that isn't absolute counts as not set. Foundation takes an empty `HOME` as the root directory's `home`,
  /// and a relative one as a folder of the project.
  private static var caches: URL? {
    let (files, variables) = (FileManager.default, ProcessInfo.processInfo.environment)
    /// The value of a variable that is an absolute path.
    func directory(_ name: String) -> String? {
      variables[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    // Foundation may end the program by a recursion for one that begins with a tilde.
    if variables["HOME"]?.hasPrefix("~") == true { return nil }
    let home = directory("HOME") ?? files.homeDirectoryForCurrentUser.relativePath
    guard home.hasPrefix("/"), files.fileExists(atPath: home) else { return nil }
    // `Library/Caches` there; elsewhere the XDG Base Directory Specification names the directory.
    #if canImport(Darwin)
      return files.urls(for: .cachesDirectory, in: .userDomainMask).first
    #else
      return URL(filePath: directory("XDG_CACHE_HOME") ?? home + "/.cache")
    #endif
  }
}

// MARK: - Rules as text

/// The rules as a terminal shows them.
enum RuleText {
  /// A line for each rule: identifier, level, whether it has fixes, name.
  static var list: String {
    Rule.all.map { rule in
      let level = rule.level.rawValue.padding(to: 7)
      return "\(rule.id)  \(level)  \(rule.isFixable ? "fix" : "   ")  \(rule.name)\n"
    }.joined()
  }

  /// A rule's description with its examples, for `stead lint explain`.
  static func page(of rule: Rule) -> String {
    """
    \(rule.id) \(rule.name) (\(rule.level.rawValue)\(rule.isFixable ? ", some findings have a fix" : ""))

    \(rule.summary)

    \(rule.why)

    Flagged:

    \(indented(rule.bad))

    Better:

    \(indented(rule.good))

    Not flagged:

    \(rule.avoids.map { "  - \($0)" }.joined(separator: "\n"))

    """
  }

  /// Code with four spaces before each line that isn't empty.
  private static func indented(_ code: String) -> String {
    code.split(separator: "\n", omittingEmptySubsequences: false).map {
      $0.isEmpty ? "" : "    \($0)"
    }
    .joined(separator: "\n")
  }
}

extension String {
  /// The string with spaces up to a number of characters.
  fileprivate func padding(to length: Int) -> String {
    self + String(repeating: " ", count: max(0, length - count))
  }
}
