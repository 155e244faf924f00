// Prints the hit ratios of all traces: a line each, with tabs between the trace's name, its title, and the ratios of
// FIFO, LRU, `MemoryCache` and the optimum.
//
//     TraceRunner [LENGTH [SEED [SIZE]]]
//
// LENGTH is how many requests a trace has, SEED what they follow from, and SIZE how many entries a cache has.
//
//     TraceRunner LENGTH seeds COUNT SIZE...
//
// Prints the name, the title, the size, a seed, and the ratios of LRU and `MemoryCache` alone, for traces of COUNT
// seeds other than the usual one and for each size.

import CacheTraces
import Foundation

@main struct TraceRunner {
  private static let usualLength = 500_000

  static func main() {
    var words = Array(CommandLine.arguments.dropFirst())
    let length = words.isEmpty ? usualLength : Int(words.removeFirst()) ?? usualLength
    if words.first == "seeds" {
      let numbers = words.dropFirst().compactMap { Int($0) }
      printSeeds(length, count: numbers.first ?? 0, sizes: Array(numbers.dropFirst()))
    } else {
      let seed = words.first.flatMap { UInt64($0) } ?? Trace.Variant.usualSeed
      let size = words.dropFirst().first.flatMap { Int($0) } ?? Trace.Variant.usualSize
      printAll(Trace.Variant(length: length, seed: seed, cacheSize: size))
    }
  }

  private static func printAll(_ variant: Trace.Variant) {
    for trace in Trace.tuned(variant) + Trace.untuned(variant) {
      let ratios = [
        PlainPolicy.fifo.hitRatio(trace), PlainPolicy.lru.hitRatio(trace),
        trace.hitRatioOfMemoryCache(), PlainPolicy.optimal.hitRatio(trace),
      ]
      print(([trace.name, trace.title] + ratios.map(text)).joined(separator: "\t"))
    }
  }

  private static func printSeeds(_ length: Int, count: Int, sizes: [Int]) {
    for seed in 1...max(1, count) {
      for size in sizes {
        let variant = Trace.Variant(length: length, seed: UInt64(seed), cacheSize: size)
        for trace in Trace.tuned(variant) + Trace.untuned(variant) {
          let ratios = [PlainPolicy.lru.hitRatio(trace), trace.hitRatioOfMemoryCache()]
          let columns = [trace.name, trace.title, "\(size)", "\(seed)"] + ratios.map(text)
          print(columns.joined(separator: "\t"))
        }
      }
    }
  }

  private static func text(_ ratio: Double) -> String { String(format: "%.4f", ratio) }
}
