import BenchmarkHarness

/// What the command line asks for.
struct Options {
  private static let roundCount = 7

  let common: BenchmarkOptions
  /// Who works; without GRDB a run takes a fifth of the time.
  let peers: Set<Peer>
  let profiled: String?
  let seconds: Double
  /// Set in child processes that measure memory.
  let memoryChild: (peer: Peer, path: String)?
  /// Set in child processes that open a store.
  let openingChild: (start: Opening.Start, path: String)?

  private static var names: [String] {
    var names = Workload.all.map(\.name) + [Memory.name]
    names += Access.all.map(\.name)
    names += Opening.all.map(\.name)
    names += Growth.all.map(\.name)
    return names
  }

  static let usage = """
    [--without-grdb] \(BenchmarkOptions.usage)
    records --profile <workload> [--seconds <n>]   runs Stead's side alone, in a loop
    workloads: \(names.joined(separator: ", "))
    """

  init(_ arguments: [String]) throws {
    var peers = Set(Peer.allCases)
    var (profiled, seconds): (String?, Double) = (nil, 10)
    var memoryChild: (Peer, String)?
    var openingChild: (Opening.Start, String)?
    common = try BenchmarkOptions(arguments, rounds: Self.roundCount) { argument, next in
      switch argument {
      case "--without-grdb": peers.remove(.grdb)
      case "--profile": profiled = try next()
      case "--seconds": seconds = Double(try next()) ?? seconds
      case "--memory":
        guard let peer = Peer(rawValue: try next()) else { throw UsageError() }
        memoryChild = (peer, try next())
      case "--opening":
        guard let start = Opening.Start(rawValue: try next()) else { throw UsageError() }
        openingChild = (start, try next())
      default: return false
      }
      return true
    }
    (self.peers, self.profiled, self.seconds) = (peers, profiled, seconds)
    (self.memoryChild, self.openingChild) = (memoryChild, openingChild)
  }
}
