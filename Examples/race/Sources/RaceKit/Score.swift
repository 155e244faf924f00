/// How many of each racer's keys hold, after the race, what was written.
public struct Score: Sendable, Equatable {
  public var found: [Int]
  public var keysPerRacer: Int

  public init(found: [Int], keysPerRacer: Int) {
    self.found = found
    self.keysPerRacer = keysPerRacer
  }

  /// Counts what a store holds; `read` gives a key's value, or 0.
  public init(of course: Course, read: (String) -> Int) {
    keysPerRacer = course.keysPerRacer
    found = (0..<course.racers).map { racer in
      course.keys(of: racer).count { read($0.key) == $0.value }
    }
  }

  public var written: Int { keysPerRacer * found.count }
  public var survived: Int { found.reduce(0, +) }
  public var lost: Int { written - survived }
}

extension Score {
  /// One line, for the process that counts to tell the one that asked.
  public var line: String { found.map(String.init).joined(separator: " ") }

  /// Nil for a line that does not hold a number for each racer.
  public init?(line: some StringProtocol, course: Course) {
    let numbers = line.split(whereSeparator: \.isWhitespace).map { Int($0) }
    guard numbers.count == course.racers, !numbers.contains(nil) else { return nil }
    self.init(found: numbers.compactMap(\.self), keysPerRacer: course.keysPerRacer)
  }
}
