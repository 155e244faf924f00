import BenchmarkHarness
import Foundation

/// One task of one peer, in a process of its own: what a peer keeps for the whole process, the
/// allocator's state and the page tables are then nobody else's.
struct ChildRun {
  /// `fill` is the one errand that measures nothing.
  enum Errand: Equatable {
    case fill
    case measure(Task)
  }

  let errand: Errand
  let peer: Peer
  let keys: Int
  let directory: URL

  init(_ errand: Errand, _ peer: Peer, keys: Int, in directory: URL) {
    self.errand = errand
    self.peer = peer
    self.keys = keys
    self.directory = directory
  }

  init(next: () throws -> String) throws {
    let name = try next()
    let errand: Errand? = name == "fill" ? .fill : Task(rawValue: name).map { .measure($0) }
    guard let errand, let peer = Peer(rawValue: try next()), let keys = Int(try next()) else {
      throw UsageError()
    }
    self.init(errand, peer, keys: keys, in: URL(filePath: try next()))
  }

  /// In the child: does the errand, and prints a line for each value.
  func run() throws {
    switch errand {
    case .fill:
      try peer.store.fill(Keys(all: keys), in: directory)
    case .measure(let task):
      for (name, value) in try task.run(peer, keys: keys, in: directory) { print(name, value) }
    }
  }

  /// In the parent: starts the child and reads its values.
  func start() throws -> [String: Double] {
    let output = try BenchmarkProgram.output(
      of: ["--child", name, peer.rawValue, String(keys), directory.path], environment: environment)
    var values: [String: Double] = [:]
    for line in output.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 2 { values[String(words[0])] = Double(words[1]) }
    }
    return values
  }

  private var name: String {
    switch errand {
    case .fill: "fill"
    case .measure(let task): task.rawValue
    }
  }

  /// Preferences of all kinds are found in the directory, and nobody's own are touched.
  private var environment: [String: String] {
    var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("MALLOC_") }
    environment["HOME"] = directory.path
    environment["XDG_CONFIG_HOME"] = directory.path
    environment["XDG_CONFIG_DIRS"] = directory.appendingPathComponent("all-users").path
    if case .measure(let task) = errand, task.keepsFreedMemory {
      // Giving memory back to the system between rounds would move all peers' figures.
      environment["MALLOC_TRIM_THRESHOLD_"] = "4000000000"
      environment["MALLOC_MMAP_THRESHOLD_"] = "1000000000"
    }
    return environment
  }
}
