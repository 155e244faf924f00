import Foundation

/// The results, a line for each store.
public struct Table: Sendable {
  public struct Row: Sendable {
    public var name: String
    public var score: Score
    public var time: Duration

    public init(name: String, score: Score, time: Duration) {
      self.name = name
      self.score = score
      self.time = time
    }
  }

  private static let nameWidth = 26
  private static let width = 9
  public var rows: [Row] = []

  public init() {}

  public var text: String {
    let racers = (0..<(rows.first?.score.found.count ?? 0)).map { "racer \($0 + 1)" }
    let header = Self.line("", ["written"] + racers + ["found", "lost", "time"])
    return ([header] + rows.map(Self.line)).joined(separator: "\n")
  }

  private static func line(_ row: Row) -> String {
    let milliseconds =
      Double(row.time.components.seconds) * 1e3 + Double(row.time.components.attoseconds) / 1e15
    let numbers = [row.score.written] + row.score.found + [row.score.survived, row.score.lost]
    return line(
      row.name, numbers.map(String.init) + [String(format: "%.0f ms", milliseconds)])
  }

  private static func line(_ name: String, _ cells: [String]) -> String {
    let start = name + String(repeating: " ", count: max(0, nameWidth - name.count))
    return cells.reduce(start) { line, cell in
      line + String(repeating: " ", count: max(1, width - cell.count)) + cell
    }
  }
}
