import Foundation

/// Findings that a project accepts, so that a run reports only new ones.
///
/// A finding is identified by its rule, its path, its message and the content of its line. It stays known when lines
/// above it are added or removed, and is reported again when its own line is edited.
public struct Baseline: Sendable {
  private struct Content: Codable {
    let version: Int
    let findings: [String: Int]
    let payloads: [String: [String]]?
  }

  private static let version = 1
  let counts: [String: Int]
  /// The fields of the Codable types that the project keeps, by the types' names: what P06 compares with.
  let payloads: [String: Set<String>]

  /// A baseline of the findings of a report.
  public init(_ report: LintReport) {
    counts = Dictionary(report.findings.map { ($0.fingerprint, 1) }, uniquingKeysWith: +)
    payloads = report.payloads
  }

  /// Throws a `LintError` for a file that isn't a baseline, since ignoring it would report all known findings again.
  public init(contentsOf url: URL) throws {
    do {
      let content = try JSONDecoder().decode(Content.self, from: Data(contentsOf: url))
      guard content.version == Self.version else {
        throw LintError(
          .unreadable,
          "\(url.path) is a baseline of version \(content.version), which this linter can't read; write it again."
        )
      }
      counts = content.findings
      payloads = (content.payloads ?? [:]).mapValues(Set.init)
    } catch let error as LintError {
      throw error
    } catch {
      throw LintError(.unreadable, "\(url.path) isn't a baseline; write it again.", cause: error)
    }
  }

  public func write(to url: URL) throws {
    let encoder = JSONEncoder()
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
