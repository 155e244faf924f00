import Dispatch
import Synchronization

/// Work that waits for a connection, by lane.
///
/// A worker takes jobs of several lanes at once, and no other worker takes jobs of these lanes until it is done. So
/// two connections never wait for each other's lock on a zone, and jobs that arrive in the meantime share the next
/// commit.
final class WorkQueue: Sendable {
  /// The maximum number of waiting jobs. More are refused, because each holds a request.
  static let maximumWaiting = 20_000

  private struct State {
    var lanes: [Lane: [Job]] = [:]
    /// Lanes with jobs that no worker has taken, first come, first served.
    var ready: [Lane] = []
    var readyStart = 0
    var taken: Set<Lane> = []
    var count = 0
    var isClosed = false
  }

  private let state = Mutex(State())
  private let available = DispatchSemaphore(value: 0)

  /// Appends a job; fails it at once if the queue is full or closed.
  func append(_ job: Job) {
    let refusal: EngineError? = state.withLock { state in
      if state.isClosed { return .closed }
      if state.count >= WorkQueue.maximumWaiting { return .overloaded }
      state.count += 1
      state.lanes[job.lane, default: []].append(job)
      if state.lanes[job.lane]?.count == 1, !state.taken.contains(job.lane) {
        state.ready.append(job.lane)
      }
      return nil
    }
    if let refusal {
      job.fail(refusal)
    } else {
      available.signal()
    }
  }

  /// Waits for work and takes it. Nil when the queue is closed and empty.
  func take(maximumJobs: Int, maximumLanes: Int) -> [Job]? {
    while true {
      let (jobs, isClosed) = state.withLock { state in
        (Self.take(from: &state, maximumJobs, maximumLanes), state.isClosed && state.count == 0)
      }
      if !jobs.isEmpty { return jobs }
      if isClosed {
        // Another worker may be waiting for the same signal.
        available.signal()
        return nil
      }
      available.wait()
    }
  }

  private static func take(from state: inout State, _ maximumJobs: Int, _ maximumLanes: Int)
    -> [Job]
  {
    var jobs: [Job] = []
    var lanes = 0
    while lanes < maximumLanes, jobs.count < maximumJobs, state.readyStart < state.ready.count {
      let lane = state.ready[state.readyStart]
      state.readyStart += 1
      let waiting = state.lanes[lane] ?? []
      let count = min(waiting.count, maximumJobs - jobs.count)
      jobs += waiting[..<count]
      state.lanes[lane] = waiting.count == count ? nil : Array(waiting[count...])
      state.taken.insert(lane)
      lanes += 1
    }
    if state.readyStart > 1_000 {
      state.ready.removeFirst(state.readyStart)
      state.readyStart = 0
    }
    state.count -= jobs.count
    return jobs
  }

  /// Releases the lanes of jobs that were taken.
  func finish(_ jobs: [Job]) {
    let more = state.withLock { state in
      var more = 0
      for lane in Set(jobs.map(\.lane)) {
        state.taken.remove(lane)
        if state.lanes[lane] != nil {
          state.ready.append(lane)
          more += 1
        }
      }
      return more
    }
    for _ in 0..<more { available.signal() }
  }

  /// Accepts no more jobs. Those that wait are still done.
  func close() {
    state.withLock { $0.isClosed = true }
    available.signal()
  }

  /// The number of jobs that wait.
  var count: Int { state.withLock { $0.count } }
}
