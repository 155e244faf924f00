/// What the command line asks for.
struct Options {
  var only: Set<String> = []
  var skipped: Set<String> = []
  var rounds = 5
  /// Whether the program ends with 1 when a target is missed.
  var isCheck = false
  /// Whether processor time is measured, for machines that others use, too.
  var countsProcessorTime = false
  /// Where lines for other programs go.
  var dataPath: String?
  /// Set in child processes.
  var child: ChildRun?

  static let usage = """
    usage: preferences [--only <measure>]… [--skip <measure>]… [--rounds <n>] [--cpu] [--check]
           [--data <file>]
      --cpu     measures processor time, without waiting for the disk
      --check   ends with 1 when a target is missed
      --data    writes a line for each figure: measure, value, peer, keys, median, least, unit
    measures: \(Measure.all.map(\.name).joined(separator: ", "))
    """

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    func next() throws -> String {
      guard let value = rest.popFirst() else { throw UsageError() }
      return value
    }
    while let argument = rest.popFirst() {
      switch argument {
      case "--only": only.insert(try next())
      case "--skip": skipped.insert(try next())
      case "--rounds": rounds = max(1, Int(try next()) ?? rounds)
      case "--cpu": countsProcessorTime = true
      case "--check": isCheck = true
      case "--data": dataPath = try next()
      case "--child": child = try ChildRun(next: next)
      default: throw UsageError()
      }
    }
  }

  func includes(_ name: String) -> Bool {
    (only.isEmpty || only.contains(name)) && !skipped.contains(name)
  }

  struct UsageError: Error {}
}
