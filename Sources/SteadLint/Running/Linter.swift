import Foundation

/// Finds persistence mistakes in the Swift files of a folder.
///
/// ```swift
/// let report = try Linter(root: URL(filePath: "Sources")).run()
/// print(try report.formatted(as: .text))
/// ```
///
/// A run has two passes. The first one reads files, on all cores: it parses each, applies the rules about
/// single files, and extracts ``FileFacts``; a file that hasn't changed since the last run comes from the
/// cache instead. The second one puts the facts into a ``ProjectIndex``, and applies the rules about the
/// whole project. No syntax tree outlives the first pass. The facts of all files are in memory, about a
/// kilobyte for ten lines.
///
/// A linter is a value with settings: several may run at the same time, also with one cache file. It reads no file
/// outside of the folder, runs no code of the project and needs no build.
public struct Linter: Sendable {
  /// What a run accepts, so that no file can crash or hang it. A file that exceeds a limit gets a
  /// finding `L02`.
  ///
  /// Higher limits of nesting need more of the stack, of which a reading thread has 64 MB.
  public struct Limits: Sendable {
    /// The largest file, in bytes.
    public var fileSize = 4_000_000
    /// The deepest nesting of brackets.
    public var nesting = 200
    /// The longest chain in one line that nests without brackets, such as optional chaining.
    public var chain = 2_000
    /// The maximum number of files; a run with more throws `.tooManyFiles`.
    public var files = 100_000

    /// Makes the default limits.
    public init() {}
  }

  /// The progress of a run.
  public struct Progress: Sendable {
    /// The number of files that were read.
    public let completed: Int
    /// The number of files of the run.
    public let total: Int
  }

  /// The folder, or the file, that is checked. Paths in findings are relative to it.
  public let root: URL
  /// What the run accepts.
  public var limits = Limits()
  /// The identifiers of the rules to check, such as `P04`; all rules if it's empty. An identifier that doesn't exist
  /// is ignored: check names with ``Rule/named(_:)``. L01 and L02 are always reported.
  public var rules: Set<String> = []
  /// The file that keeps facts and findings for the next run; nil for none. A file that isn't such a cache is ignored
  /// and replaced. It depends on the files' contents and the ``limits`` alone, so runs with other rules or another
  /// baseline share it. A run with other limits reads all files again.
  public var cacheFile: URL?
  /// Findings that are known and not reported again.
  public var baseline: Baseline?
  /// Contents that replace those of files, by path; nil leaves a file out. A path without a file is added. For an
  /// editor's unsaved files.
  public var replacements: [String: String?] = [:]
  /// Whether to check models as if the app synced with CloudKit, even if the files don't show that.
  public var assumesCloudKit = false
  /// The names of folders to skip. Folders whose name begins with a full stop are always skipped.
  public var excludedFolders: Set<String> = [
    "Pods", "Carthage", "DerivedData", "checkouts", "node_modules",
  ]

  /// What ``adopt(payloadsOf:)`` has taken; empty before.
  private var earlierPayloads: [String: Set<String>] = [:]

  /// Makes a linter for a folder or a file; nothing is read until a run. A file is checked alone: give its folder for
  /// the rules that look at other files.
  public init(root: URL) {
    self.root = root
  }

  /// Takes an earlier version's Codable types from the report of a run on that version. Rule P06 compares with them,
  /// instead of with those of the baseline.
  ///
  /// ```swift
  /// var earlier = linter
  /// earlier.replacements = contentsAtLastRelease
  /// linter.adopt(payloadsOf: try earlier.run())
  /// ```
  public mutating func adopt(payloadsOf report: LintReport) {
    earlierPayloads = report.payloads
  }

  /// Checks the files. Blocks until all are read, on as many threads as the machine has cores.
  ///
  /// Costs parsing for each file that has changed since the run that wrote the cache, and reading for the others.
  /// Writes nothing but the cache.
  ///
  /// - Parameters:
  ///   - progress: Called before each file on a thread of the linter, so several calls may overlap and come out of
  ///     order.
  ///   - isCancelled: Asked before each file on a thread of the linter.
  /// - Throws: A `LintError`: `.unreadable` if the folder can't be read, `.tooManyFiles`, `.cancelled`, or
  ///   `.unwritable` for the cache.
  public func run(
    progress: @escaping @Sendable (Progress) -> Void = { _ in },
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws -> LintReport {
    let (records, settings) = try read(progress: progress, isCancelled: isCancelled)
    return report(on: records, index: index(of: records, settings: settings))
  }

  /// Checks the files until all are checked or the task is cancelled. The work is on threads of its own, so it holds
  /// up no thread of the concurrency pool.
  ///
  /// - Throws: As the other one; `.cancelled` soon after the task was cancelled, between two files.
  public func run(progress: @escaping @Sendable (Progress) -> Void = { _ in }) async throws
    -> LintReport
  {
    let cancellation = Cancellation()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        // A thread of its own, since the run blocks until all files are read.
        Thread.detachNewThread {
          continuation.resume(
            with: Result { try run(progress: progress, isCancelled: { cancellation.isCancelled }) })
        }
      }
    } onCancel: {
      cancellation.cancel()
    }
  }

  /// Checks strings as if they were files with these paths: for editors, and for tests of rules. Reads and writes no
  /// file, and has no cache. A path such as `App/Info.plist` gives settings.
  ///
  /// ```swift
  /// let report = try Linter(root: folder).run(sources: ["Settings.swift": text])
  /// ```
  ///
  /// - Throws: Nothing that a source can cause: one that doesn't parse or exceeds a limit is a
  ///   finding L02.
  public func run(sources: [String: String]) throws -> LintReport {
    let (records, settings) = try read(sources)
    return report(on: records, index: index(of: records, settings: settings))
  }

  // MARK: - Steps

  /// Reads the folder's files, and updates the cache.
  ///
  /// - Returns: The records in the order of their paths, and the settings of the folder.
  func read(
    progress: @escaping @Sendable (Progress) -> Void, isCancelled: @escaping @Sendable () -> Bool
  ) throws -> ([FileRecord], ProjectSettings) {
    let found = try FileList(root: root, excluding: excludedFolders, limit: limits.files)
    // A cache that can't be read is an empty one, and costs only time.
    let cache = cacheFile.map(LintCache.init(contentsOf:)) ?? LintCache()
    let reading = FileReading(
      limits: limits, cache: cache, progress: progress, isCancelled: isCancelled)
    // An error leaves the cache as it was: a part of the records would make the next run parse the
    // others again.
    let records = try reading.records(of: found.replacing(replacements))
    // A run in which nothing has changed has nothing to write.
    if let cacheFile, !cache.holds(records) {
      try LintCache(records: records, after: cache).write(to: cacheFile)
    }
    return (records, found.settings)
  }

  /// Reads strings as if they were files, without a cache.
  ///
  /// A dictionary has no order, so the records are sorted by path as those of a folder are.
  func read(_ sources: [String: String]) throws -> ([FileRecord], ProjectSettings) {
    var settings = ProjectSettings()
    for (path, content) in sources where ProjectSettings.isSettings(path) {
      settings.add(Data(content.utf8), path: path)
    }
    let reading = FileReading(
      limits: limits, cache: LintCache(), progress: { _ in }, isCancelled: { false })
    // Any other path counts as Swift, whatever its name ends in.
    let files = sources.filter { !ProjectSettings.isSettings($0.key) }.sorted { $0.key < $1.key }
    let records = try reading.records(
      of: files.map { .init(path: $0.key, content: .bytes(Array($0.value.utf8))) })
    return (records, settings)
  }

  /// The index for rules about the project.
  ///
  /// The payloads of an earlier version come from a run on that version (`--since`), or else from the baseline.
  func index(of records: [FileRecord], settings: ProjectSettings) -> ProjectIndex {
    ProjectIndex(
      files: records.map(\.facts), settings: settings, assumesCloudKit: assumesCloudKit,
      // The run on a revision wins: whoever names one wants to know what changed since then.
      earlierPayloads: earlierPayloads.isEmpty ? baseline?.payloads ?? [:] : earlierPayloads)
  }

  /// Applies the rules about the project, and assembles the report.
  ///
  /// Which rules and places count is decided here and not while files are read, so that the cache serves runs with
  /// other rules, and a manifest that changes can turn a file into a test.
  ///
  /// Invariant: the cache's findings are those of all rules, and the report's those of the chosen ones.
  func report(on records: [FileRecord], index: ProjectIndex) -> LintReport {
    let chosen = Rule.all.filter { rules.isEmpty || rules.contains($0.id) }
    let local = Dictionary(grouping: records.flatMap(\.findings), by: \.ruleID)
    // The scope is applied here, so rules ask about tests themselves only where code of tests would
    // mislead them.
    let findings = chosen.flatMap { rule in
      (rule.inProject(index) + (local[rule.id] ?? [])).filter { finding in
        switch rule.scope {
        case .shipped: index.isShipped(finding.place)
        case .tests: index.isTest(finding.place.path)
        }
      }
    }
    let screening = Screening(records: records, baseline: baseline)
    // Problems are in no scope: a file that can't be read is reported also among tests.
    let (kept, suppressed, known) = screening.screen(findings + records.flatMap(\.problems))
    return LintReport(
      findings: kept, suppressedCount: suppressed, knownCount: known, fileCount: records.count,
      uncompiledCount: records.count { !index.isCompiled($0.facts.path) },
      parsedCount: records.filter { !$0.isFromCache }.count, payloads: Payloads(index).fields)
  }
}

// MARK: - Survey

/// What a project keeps, and what the rules find about it. ``Linter/survey()`` makes one; `stead advise --from-code`
/// shows it.
public struct Survey: Sendable {
  /// In the order of their places.
  public let items: [KeptItem]
  /// The report of the same run.
  public let report: LintReport
  /// The findings of the report by the lines on which they begin.
  private let findingsByLine: [Line: [Finding]]

  /// A line of a file, by which findings and items meet.
  private struct Line: Hashable {
    let path: String
    let number: Int

    init(_ place: Place) { (path, number) = (place.path, place.line) }
  }

  /// Groups the findings by line, so that asking for an item's costs only its places.
  init(items: [KeptItem], report: LintReport) {
    self.items = items
    self.report = report
    findingsByLine = Dictionary(grouping: report.findings) { Line($0.place) }
  }

  /// The findings on the lines that use an item, in the order of its places. A finding on a line that uses two items
  /// belongs to both.
  public func findings(about item: KeptItem) -> [Finding] {
    item.places.flatMap { findingsByLine[Line($0)] ?? [] }
  }

  /// The findings on lines that use no item.
  public var otherFindings: [Finding] {
    let lines = Set(items.flatMap(\.places).map(Line.init))
    return report.findings.filter { !lines.contains(Line($0.place)) }
  }

  /// The survey with a prefix before each path.
  ///
  /// The counts and the order stay.
  public func prefixed(with prefix: String) -> Survey {
    Survey(
      items: items.map { $0.prefixed(with: prefix) }, report: report.prefixed(with: prefix))
  }
}

extension Linter {
  /// Finds what the project keeps, and checks it in the same pass. Costs as much as ``run(progress:isCancelled:)``.
  ///
  /// ```swift
  /// for item in try Linter(root: folder).survey().items { print(item.kind, item.name) }
  /// ```
  ///
  /// - Throws: A `LintError` as `run` does.
  public func survey() throws -> Survey {
    let (records, settings) = try read(progress: { _ in }, isCancelled: { false })
    return survey(records, settings)
  }

  /// Surveys strings as if they were files with these paths.
  ///
  /// Reads and writes no file, as ``run(sources:)``.
  public func survey(sources: [String: String]) throws -> Survey {
    let (records, settings) = try read(sources)
    return survey(records, settings)
  }

  /// The survey of records. The index is made once, for the items and for the report.
  private func survey(_ records: [FileRecord], _ settings: ProjectSettings) -> Survey {
    let index = index(of: records, settings: settings)
    return Survey(
      items: Inventory(index).items(), report: report(on: records, index: index))
  }
}

// MARK: - Screening

/// Removes findings that comments suppress or a baseline has, and sorts the rest.
struct Screening {
  /// The comments by the paths of their files.
  private let suppressions: [String: [Suppression]]
  /// The findings that are already known; nil if all are new.
  private let baseline: Baseline?

  /// Collects the comments of all files.
  init(records: [FileRecord], baseline: Baseline?) {
    suppressions = Dictionary(grouping: records.flatMap(\.facts.suppressions), by: \.place.path)
    self.baseline = baseline
  }

  /// The findings that are reported, and the numbers of those that comments suppress and the baseline has.
  ///
  /// The baseline counts equal findings: of three on equal lines, with two in the baseline, one is new.
  ///
  /// A comment without a reason is a finding, too, and can't be disabled by a comment: only a baseline accepts it.
  func screen(_ findings: [Finding]) -> (kept: [Finding], suppressed: Int, known: Int) {
    let unexplained = suppressions.values.joined().filter { $0.reason.isEmpty }.map { suppression in
      Finding(
        .unexplainedSuppression,
        "A comment that disables a rule needs the rule's identifier and a reason: `// stead:disable P01 because …`.",
        at: suppression.place)
    }
    let open = findings.filter { !isSuppressed($0) }
    var known = baseline?.counts ?? [:]
    var kept: [Finding] = []
    // Sorted before it counts, so that in each run the same of several equal findings are the known ones.
    for finding in Set(open).union(unexplained).sorted(by: precedes) {
      // Each known finding is used up by one of this run.
      if let count = known[finding.fingerprint], count > 0 {
        known[finding.fingerprint] = count - 1
      } else {
        kept.append(finding)
      }
    }
    let all = Set(open).union(unexplained).count
    // Sets, since a rule may find one thing in two ways and the report has it once.
    return (kept, Set(findings).count - Set(open).count, all - kept.count)
  }

  /// Whether a comment on the finding's line disables its rule. A comment without a reason disables nothing.
  private func isSuppressed(_ finding: Finding) -> Bool {
    (suppressions[finding.place.path] ?? []).contains { suppression in
      suppression.line == finding.place.line && !suppression.reason.isEmpty
        && suppression.rules.contains { $0 == finding.ruleID || $0 == finding.ruleName }
    }
  }

  /// A total order: place, rule, message. Findings come from sets, whose order differs from run to run.
  private func precedes(_ one: Finding, _ other: Finding) -> Bool {
    if one.place.path != other.place.path || one.place.offset != other.place.offset {
      return one.place.precedes(other.place)
    }
    return (one.ruleID, one.message) < (other.ruleID, other.message)
  }
}
