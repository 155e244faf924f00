import Foundation

/// Finds persistence mistakes in the Swift files of a folder.
///
/// ```swift
/// let report = try Linter(root: URL(filePath: "Sources")).run() print(try report.formatted(as: .text))
/// ```
///
/// A run parses each file once, and with a cache only those that changed since the last run. It holds the facts of
/// all files in memory, about a kilobyte for ten lines.
public struct Linter: Sendable {
  /// What a run accepts, so that no file can crash or hang it.
  public struct Limits: Sendable {
    /// The largest file, in bytes.
    public var fileSize = 4_000_000
    /// The deepest nesting of brackets.
    public var nesting = 200
    /// The longest chain in one line that nests without brackets, such as optional chaining.
    public var chain = 2_000
    /// How many files a run reads.
    public var files = 100_000

    public init() {}
  }

  /// The progress of a run.
  public struct Progress: Sendable {
    /// How many files were read.
    public let completed: Int
    public let total: Int
  }

  /// The folder, or the file, that is checked. Paths in findings are relative to it.
  public let root: URL
  public var limits = Limits()
  /// The identifiers of the rules to check; all rules if it's empty.
  public var rules: Set<String> = []
  /// The file that keeps facts and findings for the next run. A file that isn't such a cache is ignored and replaced.
  public var cacheFile: URL?
  /// Findings that are known and not reported again.
  public var baseline: Baseline?
  /// Contents that replace those of files, by path; nil leaves a file out.
  public var replacements: [String: String?] = [:]
  /// Whether to check models as if the app synced with CloudKit, even if the files don't show that.
  public var assumesCloudKit = false
  /// The names of folders to skip. Folders whose name begins with a full stop are always skipped.
  public var excludedFolders: Set<String> = [
    "Pods", "Carthage", "DerivedData", "checkouts", "node_modules",
  ]

  private var earlierPayloads: [String: Set<String>] = [:]

  public init(root: URL) {
    self.root = root
  }

  /// Takes an earlier version's Codable types from the report of a run on that version. Rule P06 compares with them.
  public mutating func adopt(payloadsOf report: LintReport) {
    earlierPayloads = report.payloads
  }

  /// Checks the files.
  ///
  /// `progress` and `isCancelled` are called on threads of the linter, before each file. Throws a `LintError` when
  /// the folder can't be read or the run is cancelled.
  public func run(
    progress: @escaping @Sendable (Progress) -> Void = { _ in },
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws -> LintReport {
    let (records, settings) = try read(progress: progress, isCancelled: isCancelled)
    return report(on: records, index: index(of: records, settings: settings))
  }

  /// Checks the files until all are checked or the task is cancelled.
  public func run(progress: @escaping @Sendable (Progress) -> Void = { _ in }) async throws
    -> LintReport
  {
    let cancellation = Cancellation()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
          continuation.resume(
            with: Result { try run(progress: progress, isCancelled: { cancellation.isCancelled }) })
        }
      }
    } onCancel: {
      cancellation.cancel()
    }
  }

  /// Checks strings as if they were files with these paths: for editors, and for tests of rules.
  public func run(sources: [String: String]) throws -> LintReport {
    let (records, settings) = try read(sources)
    return report(on: records, index: index(of: records, settings: settings))
  }

  // MARK: Steps

  /// The records of the folder's files, which the cache keeps.
  func read(
    progress: @escaping @Sendable (Progress) -> Void, isCancelled: @escaping @Sendable () -> Bool
  ) throws -> ([FileRecord], ProjectSettings) {
    let found = try FileList(root: root, excluding: excludedFolders, limit: limits.files)
    let cache = cacheFile.map(LintCache.init(contentsOf:)) ?? LintCache()
    let reading = FileReading(
      limits: limits, cache: cache, progress: progress, isCancelled: isCancelled)
    let records = try reading.records(of: found.replacing(replacements))
    if let cacheFile, !cache.holds(records) {
      try LintCache(records: records, after: cache).write(to: cacheFile)
    }
    return (records, found.settings)
  }

  /// The records of strings that stand for files.
  func read(_ sources: [String: String]) throws -> ([FileRecord], ProjectSettings) {
    var settings = ProjectSettings()
    for (path, content) in sources where ProjectSettings.isSettings(path) {
      settings.add(Data(content.utf8), path: path)
    }
    let reading = FileReading(
      limits: limits, cache: LintCache(), progress: { _ in }, isCancelled: { false })
    let files = sources.filter { !ProjectSettings.isSettings($0.key) }.sorted { $0.key < $1.key }
    let records = try reading.records(
      of: files.map { .init(path: $0.key, content: .bytes(Array($0.value.utf8))) })
    return (records, settings)
  }

  func index(of records: [FileRecord], settings: ProjectSettings) -> ProjectIndex {
    ProjectIndex(
      files: records.map(\.facts), settings: settings, assumesCloudKit: assumesCloudKit,
      earlierPayloads: earlierPayloads.isEmpty ? baseline?.payloads ?? [:] : earlierPayloads)
  }

  func report(on records: [FileRecord], index: ProjectIndex) -> LintReport {
    let chosen = Rule.all.filter { rules.isEmpty || rules.contains($0.id) }
    let local = Dictionary(grouping: records.flatMap(\.findings), by: \.ruleID)
    let findings = chosen.flatMap { rule in
      (rule.inProject(index) + (local[rule.id] ?? [])).filter { finding in
        switch rule.scope {
        case .shipped: index.isShipped(finding.place)
        case .tests: index.isTest(finding.place.path)
        }
      }
    }
    let screening = Screening(records: records, baseline: baseline)
    let (kept, suppressed, known) = screening.screen(findings + records.flatMap(\.problems))
    return LintReport(
      findings: kept, suppressedCount: suppressed, knownCount: known, fileCount: records.count,
      uncompiledCount: records.count { !index.isCompiled($0.facts.path) },
      parsedCount: records.filter { !$0.isFromCache }.count, payloads: Payloads(index).fields)
  }
}
