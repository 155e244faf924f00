import Foundation

/// What a run found.
///
/// ```swift
/// let report = try Linter(root: folder).run()
/// print(try report.formatted(as: .text))
/// if report.hasErrors { exit(1) }
/// ```
///
/// It is a value that reads no files: filtering, formatting and fixing cost time for its findings alone.
public struct LintReport: Sendable {
  /// Sorted by path and place. The same files give the same list.
  public let findings: [Finding]
  /// How many findings comments suppress.
  public let suppressedCount: Int
  /// How many findings the baseline already has.
  public let knownCount: Int
  /// How many Swift files the run read.
  public let fileCount: Int
  /// How many files no target compiles, as far as Xcode projects show it; most rules pass over these.
  public let uncompiledCount: Int
  /// How many files were parsed; the others were in the cache.
  public let parsedCount: Int
  /// The fields of the Codable types that the project keeps, for a baseline.
  let payloads: [String: Set<String>]

  /// Whether a build should fail.
  public var hasErrors: Bool {
    findings.contains { $0.level == .error }
  }

  /// The report with only some of its findings. The counts stay those of the run.
  public func filtered(_ isIncluded: (Finding) -> Bool) -> LintReport {
    LintReport(
      findings: findings.filter(isIncluded), suppressedCount: suppressedCount,
      knownCount: knownCount,
      fileCount: fileCount, uncompiledCount: uncompiledCount, parsedCount: parsedCount,
      payloads: payloads)
  }

  /// The report with a prefix before each path, such as the folder's path relative to the working directory. Fix and
  /// format it with paths that have the prefix, too.
  public func prefixed(with prefix: String) -> LintReport {
    LintReport(
      findings: findings.map { $0.prefixed(with: prefix) }, suppressedCount: suppressedCount,
      knownCount: knownCount, fileCount: fileCount, uncompiledCount: uncompiledCount,
      parsedCount: parsedCount, payloads: payloads)
  }

  /// A file's source after its fixes, and how many fixes were made. Writes nothing.
  ///
  /// The fixes are those of findings in the report, so filter it before. Edits that overlap earlier ones are left
  /// out; another run finds them again.
  ///
  /// ```swift
  /// for path in Set(report.findings.map(\.place.path)) {
  ///   let source = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
  ///   let (fixed, count) = report.fixed(source, path: path)
  ///   if count > 0 { try fixed.write(to: folder.appending(path: path), atomically: true, encoding: .utf8) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - source: The source that the run has read. Edits beyond its end are left out, but a source that changed
  ///     since is edited in the wrong places.
  ///   - path: The file's path as in the findings.
  public func fixed(_ source: String, path: String) -> (source: String, count: Int) {
    // In the order of the report, so of two fixes that overlap the first one in it is made.
    let edits = findings.filter { $0.place.path == path }.compactMap(\.fix)
    // As bytes, since offsets count UTF-8 and a string's indices would have to be converted for
    // each edit.
    var bytes = Array(source.utf8)
    var taken: [Range<Int>] = []
    var accepted: [Fix.Edit] = []
    var count = 0
    for fix in edits {
      let ranges = fix.edits.map { $0.offset..<($0.offset + $0.length) }
      // All edits of a fix or none: a half of one, such as a renamed call without its removed suffix, wouldn't
      // compile.
      guard ranges.allSatisfy({ $0.upperBound <= bytes.count && !Self.overlaps($0, any: taken) })
      else { continue }
      taken += ranges
      accepted += fix.edits
      count += 1
    }
    // From the end, so that the offsets of the others stay valid.
    for edit in accepted.sorted(by: { $0.offset > $1.offset }) {
      bytes.replaceSubrange(edit.offset..<(edit.offset + edit.length), with: edit.replacement.utf8)
    }
    return (String(decoding: bytes, as: UTF8.self), count)
  }

  /// Whether a range overlaps another. Two insertions at one offset count, too: their order would be arbitrary.
  ///
  /// Costs the product of the numbers of fixes, of which a file has few.
  private static func overlaps(_ range: Range<Int>, any others: [Range<Int>]) -> Bool {
    others.contains { $0.overlaps(range) || ($0.lowerBound == range.lowerBound) }
  }
}

// MARK: - Baseline

/// Findings that a project accepts, so that a run reports only new ones.
///
/// ```swift
/// try Baseline(linter.run()).write(to: file)  // once
/// linter.baseline = try Baseline(contentsOf: file)
/// ```
///
/// A finding is identified by its rule, its path, its message and the content of its line. It stays known
/// when lines above it are added or removed, and is reported again when its own line is edited.
public struct Baseline: Sendable {
  /// The file's JSON.
  private struct Content: Codable {
    let version: Int
    let findings: [String: Int]
    // Optional, so that a file without payloads is a baseline, too.
    let payloads: [String: [String]]?
  }

  /// The version of the file's form. A file of any other version is refused.
  private static let version = 1
  /// How many findings have each fingerprint. Equal lines of one file have the same one.
  let counts: [String: Int]
  /// The fields of the Codable types that the project keeps, by the types' names: what P06 compares with.
  let payloads: [String: Set<String>]

  /// Makes a baseline that accepts all findings of a report, and remembers the fields of the Codable types that the
  /// project keeps, with which rule P06 compares later versions.
  ///
  /// Filter the report first if it should accept only some of them.
  public init(_ report: LintReport) {
    counts = Dictionary(report.findings.map { ($0.fingerprint, 1) }, uniquingKeysWith: +)
    payloads = report.payloads
  }

  /// Reads a baseline.
  ///
  /// - Throws: A `LintError` `.unreadable` for a file that doesn't exist or isn't a baseline, since ignoring it
  ///   would report all known findings again.
  public init(contentsOf url: URL) throws {
    do {
      let content = try JSONDecoder().decode(Content.self, from: Data(contentsOf: url))
      // Reading a later version by the rules of this one could accept findings that it doesn't.
      guard content.version == Self.version else {
        throw LintError(
          .unreadable,
          "\(url.path) is a baseline of version \(content.version), which this linter can't read; write it again."
        )
      }
      counts = content.findings
      payloads = (content.payloads ?? [:]).mapValues(Set.init)
    } catch let error as LintError {
      // The version's own error has the better message.
      throw error
    } catch {
      throw LintError(.unreadable, "\(url.path) isn't a baseline; write it again.", cause: error)
    }
  }

  /// Writes the baseline as JSON, with sorted keys, so that a version control shows what changed. Replaces a file
  /// atomically.
  ///
  /// - Throws: A `LintError` `.unwritable`.
  public func write(to url: URL) throws {
    let encoder = JSONEncoder()
    // A line for each finding, which version control compares.
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    do {
      let content = Content(
        version: Self.version, findings: counts, payloads: payloads.mapValues { $0.sorted() })
      try encoder.encode(content).write(to: url, options: .atomic)
    } catch {
      throw LintError(
        .unwritable,
        "The baseline can't be written to \(url.path); name a file in a writable folder.",
        cause: error)
    }
  }
}

// MARK: - Errors

/// Why a run has no report. Findings are no errors: see ``LintReport/hasErrors``.
///
/// ```swift
/// do {
///   let report = try linter.run()
/// } catch let error as LintError where error.code == .tooManyFiles {
///   print(error.message)
/// }
/// ```
public struct LintError: Error, CustomStringConvertible {
  /// What went wrong, for comparison.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Name { case unreadable, cancelled, tooManyFiles, unwritable }
    private let name: Name

    /// The code's name, for logs and metrics.
    public var description: String { "\(name)" }

    /// The folder, or a baseline, can't be read.
    public static let unreadable = Code(name: .unreadable)
    /// The run was cancelled.
    public static let cancelled = Code(name: .cancelled)
    /// The folder has more files than the limit.
    public static let tooManyFiles = Code(name: .tooManyFiles)
    /// The cache or a baseline can't be written.
    public static let unwritable = Code(name: .unwritable)
  }

  /// What went wrong, for comparison.
  public var code: Code
  /// What went wrong and what to do about it.
  public var message: String
  /// The underlying error, if any.
  public var cause: (any Error)?

  /// The message.
  public var description: String { message }

  /// Makes an error with a message that names the subject, the problem and the remedy.
  init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }
}
