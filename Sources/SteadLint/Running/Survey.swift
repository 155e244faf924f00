/// What a project keeps, and what the rules find about it.
public struct Survey: Sendable {
  /// In the order of their places.
  public let items: [KeptItem]
  public let report: LintReport
  private let findingsByLine: [Line: [Finding]]

  private struct Line: Hashable {
    let path: String
    let number: Int

    init(_ place: Place) { (path, number) = (place.path, place.line) }
  }

  init(items: [KeptItem], report: LintReport) {
    self.items = items
    self.report = report
    findingsByLine = Dictionary(grouping: report.findings) { Line($0.place) }
  }

  /// The findings on the lines that use an item.
  public func findings(about item: KeptItem) -> [Finding] {
    item.places.flatMap { findingsByLine[Line($0)] ?? [] }
  }

  /// The findings on lines that use no item.
  public var otherFindings: [Finding] {
    let lines = Set(items.flatMap(\.places).map(Line.init))
    return report.findings.filter { !lines.contains(Line($0.place)) }
  }

  /// The survey with a prefix before each path.
  public func prefixed(with prefix: String) -> Survey {
    Survey(
      items: items.map { $0.prefixed(with: prefix) }, report: report.prefixed(with: prefix))
  }
}

extension Linter {
  /// Finds what the project keeps, and checks it in the same pass.
  ///
  /// Throws a `LintError` as `run` does.
  public func survey() throws -> Survey {
    let (records, settings) = try read(progress: { _ in }, isCancelled: { false })
    return survey(records, settings)
  }

  /// Surveys strings as if they were files with these paths.
  public func survey(sources: [String: String]) throws -> Survey {
    let (records, settings) = try read(sources)
    return survey(records, settings)
  }

  private func survey(_ records: [FileRecord], _ settings: ProjectSettings) -> Survey {
    let index = index(of: records, settings: settings)
    return Survey(
      items: Inventory(index).items(), report: report(on: records, index: index))
  }
}
