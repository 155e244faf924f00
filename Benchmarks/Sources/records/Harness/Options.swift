/// What the command line asks for.
struct Options {
  var only: Set<String> = []
  var skipped: Set<String> = []
  var rounds = 7
  /// Whether processor time is measured, for machines that others use, too.
  var countsProcessorTime = false
  /// Whether the program ends with 1 when a goal is missed.
  var isCheck = false
  /// Who works; without GRDB a run takes a fifth of the time.
  var peers = Set(Peer.allCases)
  var profiled: String?
  var seconds = 10.0
  /// Set in child processes that measure memory.
  var memoryChild: (peer: Peer, path: String)?
  /// Set in child processes that open a store.
  var openingChild: (start: Opening.Start, path: String)?

  private static var names: [String] {
    var names = Workload.all.map(\.name) + [Memory.name]
    names += Access.all.map(\.name)
    names += Opening.all.map(\.name)
    names += Growth.all.map(\.name)
    return names
  }

  static let usage = """
    usage: records [--only <workload>]… [--skip <workload>]… [--rounds <n>] [--cpu] [--check] [--without-grdb]
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
      case "--check": isCheck = true
      case "--without-grdb": peers.remove(.grdb)
      case "--rounds": rounds = max(1, Int(try next(&rest)) ?? rounds)
      case "--profile": profiled = try next(&rest)
      case "--seconds": seconds = Double(try next(&rest)) ?? seconds
      case "--memory":
        guard let peer = Peer(rawValue: try next(&rest)) else { throw UsageError() }
        memoryChild = (peer, try next(&rest))
      case "--opening":
        guard let start = Opening.Start(rawValue: try next(&rest)) else { throw UsageError() }
        openingChild = (start, try next(&rest))
      default: throw UsageError()
      }
    }
  }

  func includes(_ name: String) -> Bool {
    (only.isEmpty || only.contains(name)) && !skipped.contains(name)
  }

  struct UsageError: Error {}
}
