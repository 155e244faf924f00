/// What a run found.
public struct LintReport: Sendable {
  /// Sorted by path and place. The same files give the same list.
  public let findings: [Finding]
  /// How many findings comments suppress.
  public let suppressedCount: Int
  /// How many findings the baseline already has.
  public let knownCount: Int
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

  /// The report with only some of its findings.
  public func filtered(_ isIncluded: (Finding) -> Bool) -> LintReport {
    LintReport(
      findings: findings.filter(isIncluded), suppressedCount: suppressedCount,
      knownCount: knownCount,
      fileCount: fileCount, uncompiledCount: uncompiledCount, parsedCount: parsedCount,
      payloads: payloads)
  }

  /// The report with a prefix before each path.
  public func prefixed(with prefix: String) -> LintReport {
    LintReport(
      findings: findings.map { $0.prefixed(with: prefix) }, suppressedCount: suppressedCount,
      knownCount: knownCount, fileCount: fileCount, uncompiledCount: uncompiledCount,
      parsedCount: parsedCount, payloads: payloads)
  }

  /// A file's source after its fixes, and how many fixes were made.
  ///
  /// Edits that overlap earlier ones are left out; another run finds them again.
  public func fixed(_ source: String, path: String) -> (source: String, count: Int) {
    let edits = findings.filter { $0.place.path == path }.compactMap(\.fix)
    var bytes = Array(source.utf8)
    var taken: [Range<Int>] = []
    var accepted: [Fix.Edit] = []
    var count = 0
    for fix in edits {
      let ranges = fix.edits.map { $0.offset..<($0.offset + $0.length) }
      guard ranges.allSatisfy({ $0.upperBound <= bytes.count && !Self.overlaps($0, any: taken) })
      else { continue }
      taken += ranges
      accepted += fix.edits
      count += 1
    }
    for edit in accepted.sorted(by: { $0.offset > $1.offset }) {
      bytes.replaceSubrange(edit.offset..<(edit.offset + edit.length), with: edit.replacement.utf8)
    }
    return (String(decoding: bytes, as: UTF8.self), count)
  }

  private static func overlaps(_ range: Range<Int>, any others: [Range<Int>]) -> Bool {
    others.contains { $0.overlaps(range) || ($0.lowerBound == range.lowerBound) }
  }
}
