import Foundation

/// Runs the measures and prints each as soon as it is known.
struct Runner {
  let options: Options
  let directory: URL

  /// The figures' values, one a round.
  private var samples: [Figure: [Double]] = [:]
  private var filled: [String: URL] = [:]
  private var directoryCount = 0

  init(options: Options, directory: URL) {
    self.options = options
    self.directory = directory
  }

  /// Returns whether all targets were met.
  mutating func run() throws -> Bool {
    let report = try Report(dataPath: options.dataPath)
    report.printHeader(options)
    var isMet = true
    for measure in Measure.all where options.common.includes(measure.name) {
      for round in 0..<options.common.rounds {
        // Peers take turns within a round, and every other round in the opposite order.
        let runs = measure.sizes.flatMap { keys in measure.peers.map { (peer: $0, keys: keys) } }
        for run in round.isMultiple(of: 2) ? runs : runs.reversed() {
          try self.run(measure.task, run.peer, keys: run.keys)
        }
      }
      report.print(measure, samples)
      for check in measure.checks {
        isMet = report.print(check, samples) && isMet
      }
    }
    return isMet
  }

  private mutating func run(_ task: Task, _ peer: Peer, keys: Int) throws {
    let directory = task.needsFilledStore ? try filledStore(task, peer, keys) : try newDirectory()
    let values = try ChildRun(.measure(task), peer, keys: keys, in: directory).start()
    for (name, value) in values {
      samples[Figure(task: task, value: name, peer: peer, keys: keys), default: []].append(value)
    }
    if !task.needsFilledStore { try FileManager.default.removeItem(at: directory) }
  }

  private mutating func filledStore(_ task: Task, _ peer: Peer, _ keys: Int) throws -> URL {
    let name = "\(task)-\(peer)-\(keys)"
    if let directory = filled[name] { return directory }
    let directory = try newDirectory()
    _ = try ChildRun(.fill, peer, keys: keys, in: directory).start()
    filled[name] = directory
    return directory
  }

  private mutating func newDirectory() throws -> URL {
    directoryCount += 1
    let new = directory.appendingPathComponent("\(directoryCount)")
    try FileManager.default.createDirectory(at: new, withIntermediateDirectories: true)
    return new
  }
}
