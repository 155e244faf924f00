/// What the command line asks for.
struct Options {
  var only: Set<String> = []
  var skipped: Set<String> = []
  var rounds = 7
  /// Whether processor time is measured, for machines that others use, too.
  var countsProcessorTime = false
  var profiled: String?
  var seconds = 10.0
  /// Set in child processes that measure memory.
  var memoryChild: (peer: Peer, path: String)?

  private static let names = Workload.all.map(\.name) + [Memory.name] + Access.all.map(\.name)

  static let usage = """
    usage: records [--only <workload>]… [--skip <workload>]… [--rounds <n>] [--cpu]
           records --profile <workload> [--seconds <n>]   runs Stead's side alone, in a loop
    workloads: \(names.joined(separator: ", "))
    """

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    func next(_ rest: inout ArraySlice<String>) throws -> String {
      guard let value = rest.popFirst() else { throw UsageError() }
      return value
    }
    while let argument = rest.popFirst() {
      switch argument {
      case "--only": only.insert(try next(&rest))
      case "--skip": skipped.insert(try next(&rest))
      case "--cpu": countsProcessorTime = true
      case "--rounds": rounds = max(1, Int(try next(&rest)) ?? rounds)
      case "--profile": profiled = try next(&rest)
      case "--seconds": seconds = Double(try next(&rest)) ?? seconds
      case "--memory":
        guard let peer = Peer(rawValue: try next(&rest)) else { throw UsageError() }
        memoryChild = (peer, try next(&rest))
      default: throw UsageError()
      }
    }
  }

  func includes(_ name: String) -> Bool {
    (only.isEmpty || only.contains(name)) && !skipped.contains(name)
  }

  struct UsageError: Error {}
}
