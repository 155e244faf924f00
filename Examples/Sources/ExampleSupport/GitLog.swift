import Foundation

/// Reads a git repository's history as packages, where a machine has no package database: a commit
/// is a package, its author the maintainer, its year the section, its parents the dependencies.
public enum GitLog {
  private static let format = "%H%x1f%ad%x1f%an%x1f%ae%x1f%P%x1f%s%x1f%b%x1e"

  public static func read(repository: URL) throws -> [PackageRecord] {
    let git = Process()
    git.executableURL = URL(filePath: "/usr/bin/env")
    git.arguments = [
      "git", "-C", repository.path, "log", "--date=short", "--format=\(format)",
    ]
    let output = Pipe()
    git.standardOutput = output
    try git.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    git.waitUntilExit()
    return parse(String(decoding: data, as: UTF8.self))
  }

  static func parse(_ text: String) -> [PackageRecord] {
    text.split(separator: "\u{1e}").compactMap { entry in
      let parts = entry.split(separator: "\u{1f}", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
      guard parts.count >= 7 else { return nil }
      var record = PackageRecord()
      record.name = parts[0]
      record.version = parts[1]
      record.section = String(parts[1].prefix(4))
      record.maintainer = Person(name: parts[2], address: parts[3])
      record.dependencies = parts[4].split(separator: " ").map {
        PackageRecord.Need(text: String($0), names: [String($0)])
      }
      record.summary = parts[5]
      record.details = parts[6]
      record.installedSize = parts[6].utf8.count
      return record
    }
  }
}
