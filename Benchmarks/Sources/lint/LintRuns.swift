import BenchmarkHarness
import Foundation
import SteadLint
import SwiftParser
import Synchronization

/// Runs of the linter over the same files, and what their parsing alone costs.
struct LintRuns {
  let sources: LintedSources

  private static let second = 1e9

  var comparisons: [Comparison] {
    [
      Comparison(
        name: "cold", title: "all files, without a cache that is written",
        limit: .time(10 * Self.second)
      ) { directory in
        [try stead(in: directory, isCold: true)]
      },
      Comparison(
        name: "unchanged", title: "all files, none of which has changed",
        limit: .time(Self.second)
      ) { directory in
        [try stead(in: directory, isCold: false)]
      },
      Comparison(name: "parsing", title: "all rules, cold / parsing alone") { directory in
        let linter = try stead(in: directory, isCold: true)
        return [linter, Comparison.Peer(name: "parser") { timed { parse() } }]
      },
    ]
  }

  private func stead(in directory: URL, isCold: Bool) throws -> Comparison.Peer {
    let folder = directory.appending(path: "sources")
    try sources.copy(into: folder)
    var linter = Linter(root: folder)
    let cache = directory.appending(path: "cache")
    linter.cacheFile = cache
    let (count, finished) = (sources.files.count, linter)
    return Comparison.Peer(name: "stead lint") {
      if isCold, FileManager.default.fileExists(atPath: cache.path) {
        try FileManager.default.removeItem(at: cache)
      }
      return try timed {
        let report = try finished.run()
        precondition(report.fileCount == count)
        return report
      }
    }
  }

  /// Reads and parses the files on as many threads as the linter has, with a stack as large as its.
  private func parse() {
    let queue = FileQueue(sources.files)
    let done = DispatchGroup()
    for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
      done.enter()
      let thread = Thread {
        while let data = queue.next() {
          keep(Array(data).withUnsafeBufferPointer { Parser.parse(source: $0) })
        }
        done.leave()
      }
      thread.stackSize = 64 << 20
      thread.start()
    }
    done.wait()
  }
}

/// Files that threads take one after the other.
private final class FileQueue: Sendable {
  private let rest: Mutex<ArraySlice<URL>>

  init(_ files: [URL]) { rest = Mutex(files[...]) }

  /// The content of the next file; nil when there is none, or it can't be read.
  func next() -> Data? {
    rest.withLock { $0.popFirst() }.flatMap { try? Data(contentsOf: $0) }
  }
}
