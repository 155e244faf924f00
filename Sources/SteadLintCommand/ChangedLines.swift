import SteadLint

/// The lines of files that are new or changed since a revision.
struct ChangedLines {
  private var lines: [String: [ClosedRange<Int>]] = [:]
  private let new: Set<String>
  /// Every file that differs, including files that are gone.
  private(set) var paths: Set<String>

  /// Reads a unified diff without context lines.
  init(_ changes: (diff: String, new: [String])) {
    new = Set(changes.new)
    paths = new
    var path: String?
    for line in changes.diff.split(separator: "\n") {
      if line.hasPrefix("--- a/") {
        path = String(line.dropFirst("--- a/".count))
        path.map { _ = paths.insert($0) }
      } else if line.hasPrefix("+++ b/") {
        path = String(line.dropFirst("+++ b/".count))
        path.map { _ = paths.insert($0) }
      } else if line.hasPrefix("@@ "), let path, let range = Self.range(line) {
        lines[path, default: []].append(range)
      }
    }
  }

  func contains(_ finding: Finding) -> Bool {
    new.contains(finding.place.path)
      || (lines[finding.place.path] ?? []).contains { $0.contains(finding.place.line) }
  }

  /// The new lines of `@@ -3,2 +3,4 @@`; nil if lines were only removed.
  private static func range(_ header: Substring) -> ClosedRange<Int>? {
    guard let part = header.split(separator: " ").first(where: { $0.hasPrefix("+") }) else {
      return nil
    }
    let numbers = part.dropFirst().split(separator: ",").compactMap { Int($0) }
    guard let first = numbers.first else { return nil }
    let count = numbers.count > 1 ? numbers[1] : 1
    return count > 0 ? first...(first + count - 1) : nil
  }
}
