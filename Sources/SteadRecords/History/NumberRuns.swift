/// Runs of numbers, each of which rises or falls by one. The first is stored inline, and most lists have only one.
struct NumberRuns {
  typealias Run = (first: Int64, count: Int64)

  private var head: Run = (0, 0)
  private var others: [Run] = []

  /// How many numbers there are.
  private(set) var count: Int64 = 0

  mutating func append(_ run: Run) {
    if count == 0 { head = run } else { others.append(run) }
    count += run.count
  }

  /// Calls a body with each number, if those of a run rise.
  func forEach(_ body: (Int64) throws -> Void) rethrows {
    for number in head.first..<(head.first + head.count) { try body(number) }
    for run in others {
      for number in run.first..<(run.first + run.count) { try body(number) }
    }
  }

  /// Reads the numbers one after the other, if those of a run fall by one.
  struct FallingReader {
    private let runs: NumberRuns
    private var run: Run
    private var next = 0

    init(_ runs: NumberRuns) {
      self.runs = runs
      run = runs.head
    }

    /// The next number; 0 behind the last one.
    mutating func read() -> Int64 {
      if run.count == 0 {
        guard next < runs.others.count else { return 0 }
        run = runs.others[next]
        next += 1
      }
      let number = run.first
      run = (number - 1, run.count - 1)
      return number
    }
  }
}
