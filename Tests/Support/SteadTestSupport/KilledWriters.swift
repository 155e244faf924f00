/// Writers that are killed again and again, each after some of its changes, and what they must find when
/// they are started again.
package struct KilledWriters {
  private struct Writer {
    var model: WriterModel
    var worker: WorkerProcess?
  }

  package private(set) var killsInChanges = 0
  package private(set) var killsInSynchronize = 0
  package private(set) var killsInOpening = 0

  private let launch: (_ name: String) throws -> WorkerProcess
  private let fail: (String) -> Void
  private var random: SplitMix
  private var writers: [Writer]

  /// - Parameters:
  ///   - names: The writers' names; a writer's keys begin with its name and a full stop.
  ///   - launch: Starts a writer, which dumps its keys, with a full stop behind them, and then changes
  ///     them without end, and says so as ``WriterModel`` wants it.
  ///   - fail: Is told what was found to be wrong.
  package init(
    _ names: [String], seed: UInt64,
    launch: @escaping (_ name: String) throws -> WorkerProcess, fail: @escaping (String) -> Void
  ) {
    random = SplitMix(seed: seed)
    writers = names.map { Writer(model: WriterModel($0)) }
    self.launch = launch
    self.fail = fail
  }

  /// Changes that were done and must be found again, so far.
  package var changesDone: Int { writers.reduce(0) { $0 + $1.model.doneCount } }

  /// Starts what is not running, lets a writer work for a moment and kills it.
  ///
  /// - Parameters:
  ///   - limit: The most changes that it has time for.
  ///   - isTime: Is asked after each change whether the moment has come already.
  package mutating func kill(after limit: Int = 50, isTime: () -> Bool = { false }) throws {
    for index in writers.indices where writers[index].worker == nil { try start(index) }
    let index = Int.random(in: writers.indices, using: &random)
    guard let worker = writers[index].worker else { return }
    var goal = Int.random(in: 0...limit, using: &random)
    while goal > 0 {
      guard let line = worker.line() else { return fail("\(index) ended by itself", worker) }
      take(line, from: index)
      if line.hasPrefix("e") { goal = isTime() ? 0 : goal - 1 }
    }
    end(index)
    let model = writers[index].model
    if model.isChanging { killsInChanges += 1 }
    if model.isSynchronizing { killsInSynchronize += 1 }
    // The others wait when nobody reads what they say.
    for other in writers.indices where other != index {
      for line in writers[other].worker?.linesAtHand() ?? [] { take(line, from: other) }
    }
  }

  /// Kills all that run.
  package mutating func end() {
    for index in writers.indices where writers[index].worker != nil { end(index) }
  }

  /// Compares all that is there with what the writers said.
  package mutating func check(_ contents: [String: String]) {
    for index in writers.indices { check(contents, of: index) }
  }

  private mutating func start(_ index: Int) throws {
    let name = writers[index].model.name
    // Some are killed while they open what they write to, which is when the last one's death is
    // repaired.
    while Int.random(in: 0..<12, using: &random) == 0 {
      let worker = try launch(name)
      spin(upTo: 400_000)
      worker.end()
      if let contents = worker.dump() {
        check(contents, of: index)
        for line in worker.rest() { take(line, from: index) }
      } else {
        killsInOpening += 1
      }
    }
    let worker = try launch(name)
    guard let contents = worker.dump() else { return fail("\(index) could not open", worker) }
    check(contents, of: index)
    writers[index].worker = worker
  }

  private mutating func end(_ index: Int) {
    guard let worker = writers[index].worker else { return }
    spin(upTo: 20_000)
    worker.end()
    writers[index].worker = nil
    for line in worker.rest() { take(line, from: index) }
  }

  private mutating func take(_ line: String, from index: Int) {
    if !writers[index].model.take(line) { fail("\(index) said: \(line)") }
  }

  private mutating func check(_ contents: [String: String], of index: Int) {
    let own = contents.filter { $0.key.hasPrefix("\(writers[index].model.name).") }
    if let difference = writers[index].model.check(own) { fail(difference) }
  }

  private func fail(_ what: String, _ worker: WorkerProcess) {
    fail("\(what) \(worker.rest()) \(worker.finish())")
  }

  /// Another moment each time, without waiting for a clock.
  private mutating func spin(upTo limit: Int) {
    for _ in 0..<Int.random(in: 0..<limit, using: &random) { _ = random.next() }
  }
}
