import Foundation

/// Reads the package database of Debian and its relatives: paragraphs of `Field: value` lines, where
/// a line that begins with a space continues the field (deb-src-control(5)).
public enum DebianStatus {
  public static let path = "/var/lib/dpkg/status"
  /// The database as it was before the last change of packages.
  public static let olderPath = path + "-old"

  /// The installed packages.
  public static func parse(_ text: String) -> [PackageRecord] {
    paragraphs(text).compactMap(record)
  }

  static func paragraphs(_ text: String) -> [[String: String]] {
    var result: [[String: String]] = []
    var fields: [String: String] = [:]
    var current = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.isEmpty {
        if !fields.isEmpty { result.append(fields) }
        fields = [:]
      } else if line.first == " " || line.first == "\t" {
        fields[current, default: ""] += "\n" + line.dropFirst()
      } else if let colon = line.firstIndex(of: ":") {
        current = String(line[..<colon])
        fields[current] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      }
    }
    if !fields.isEmpty { result.append(fields) }
    return result
  }

  private static func record(_ fields: [String: String]) -> PackageRecord? {
    guard let name = fields["Package"], fields["Status"]?.hasSuffix(" installed") != false else {
      return nil
    }
    var record = PackageRecord()
    record.name = name
    record.version = fields["Version"] ?? ""
    record.priority = fields["Priority"].flatMap(Priority.init) ?? .optional
    record.installedSize = fields["Installed-Size"].flatMap { Int($0) } ?? 0
    record.section = fields["Section"]
    record.maintainer = Person(fields["Maintainer"] ?? "")
    let lines = (fields["Description"] ?? "").split(separator: "\n", maxSplits: 1)
    record.summary = lines.first.map(String.init) ?? ""
    record.details = lines.count > 1 ? String(lines[1]) : ""
    record.dependencies = needs(fields["Depends"] ?? "")
    return record
  }

  /// `a (>= 1), b | c:any` as needs.
  static func needs(_ text: String) -> [PackageRecord.Need] {
    text.split(separator: ",").map { need in
      let names = need.split(separator: "|").compactMap { alternative in
        alternative.split(whereSeparator: { " (:".contains($0) }).first.map(String.init)
      }
      return PackageRecord.Need(
        text: need.trimmingCharacters(in: .whitespacesAndNewlines), names: names)
    }
  }
}
