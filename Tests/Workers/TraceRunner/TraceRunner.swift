// Prints the hit ratios of all traces: a line each, with tabs between the trace's name, its title, and the ratios of
// FIFO, LRU, `MemoryCache` and the optimum.
//
// The argument is how many requests a trace has.

import CacheTraces
import Foundation

@main struct TraceRunner {
  private static let usualLength = 500_000

  static func main() {
    let length = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? usualLength
    for trace in Trace.all(length: length) {
      let ratios = [
        PlainPolicy.fifo.hitRatio(trace), PlainPolicy.lru.hitRatio(trace),
        trace.hitRatioOfMemoryCache(), PlainPolicy.optimal.hitRatio(trace),
      ]
      let columns = ratios.map { String(format: "%.4f", $0) }
      print(([trace.name, trace.title] + columns).joined(separator: "\t"))
    }
  }
}
