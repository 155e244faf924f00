import BenchmarkHarness

/// What the command line asks for.
struct Options {
  let common: BenchmarkOptions
  /// Where lines for other programs go.
  private(set) var dataPath: String?
  /// Set in child processes.
  private(set) var child: ChildRun?

  static let usage = """
    [--data <file>] \(BenchmarkOptions.usage)
      --data    writes a line for each figure: measure, value, peer, keys, median, least, unit
    measures: \(Measure.all.map(\.name).joined(separator: ", "))
    """

  init(_ arguments: [String]) throws {
    var (dataPath, child): (String?, ChildRun?) = (nil, nil)
    common = try BenchmarkOptions(arguments, rounds: 5) { argument, next in
      switch argument {
      case "--data": dataPath = try next()
      case "--child": child = try ChildRun(next: next)
      default: return false
      }
      return true
    }
    self.dataPath = dataPath
    self.child = child
  }
}
