#if Server
import Dispatch
import Foundation
import Synchronization

/// Work that waits for a connection, by lane.
///
/// A worker takes jobs of several lanes at once, and no other worker takes jobs of these lanes until it is done. So
/// two connections never wait for each other's lock on a zone, and jobs that arrive in the meantime share the next
/// commit.
///
/// Invariant: a lane with waiting jobs is either in `ready`, once, or in `taken`. So
/// ``take(maximumJobs:maximumLanes:)`` finds each waiting job, and gives the jobs of one lane to one worker at a
/// time.
///
/// Thread-safe. The mutex is never held while a job runs or a worker waits.
final class WorkQueue: Sendable {
  /// The maximum number of waiting jobs. More are refused, because each holds a request.
  static let maximumWaiting = 20_000

  /// Guarded by the mutex. `readyStart` is the first of `ready` that wasn't taken, and `count` the number of jobs in
  /// `lanes`.
  private struct State {
    var lanes: [Lane: [Job]] = [:]
    /// Lanes with jobs that no worker has taken, first come, first served. Those before `readyStart` were taken:
    /// removing the first element each time would move all others.
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
      // The refusal is returned and reported outside of the mutex: it resumes a request.
      if state.isClosed { return .closed }
      if state.count >= WorkQueue.maximumWaiting { return .overloaded }
      state.count += 1
      state.lanes[job.lane, default: []].append(job)
      // Otherwise the lane is in `ready` already, or gets there with `finish(_:)`.
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

  /// Waits for work and takes it. Nil when the queue is closed and empty. Blocks the thread.
  ///
  /// The semaphore counts at least the jobs and lanes that are ready, perhaps more: a worker that takes several jobs
  /// consumes one signal. So a worker that wakes without work waits again, and none sleeps while there is work.
  func take(maximumJobs: Int, maximumLanes: Int) -> [Job]? {
    while true {
      // Closed only once nothing waits: work that was accepted is still done.
      let (jobs, isClosed) = state.withLock { state in
        (Self.take(from: &state, maximumJobs, maximumLanes), state.isClosed && state.count == 0)
      }
      if !jobs.isEmpty { return jobs }
      if isClosed {
        // Another worker may be waiting, and the queue gives no other signal: each worker that ends wakes the next.
        available.signal()
        return nil
      }
      available.wait()
    }
  }

  /// Takes jobs of lanes that no worker has, and marks the lanes as taken. Each lane's jobs stay in their order. If
  /// only a part of a lane's jobs fits, ``finish(_:)`` makes the lane ready for the rest.
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
    // Rarely, so that each lane costs constant time on average.
    if state.readyStart > 1_000 {
      state.ready.removeFirst(state.readyStart)
      state.readyStart = 0
    }
    state.count -= jobs.count
    return jobs
  }

  /// Releases the lanes of jobs that were taken. Lanes that have got jobs meanwhile are ready again, behind all
  /// others, so that a busy zone doesn't keep the others waiting.
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
    // One for each lane, since different workers may take them.
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

/// A thread with its own connection, which runs the jobs of a queue until that is closed and empty.
struct Worker: Sendable {
  /// The maximum number of attempts at work that conflicts with another transaction.
  static let maximumAttempts = 8

  let queue: WorkQueue
  /// Makes a connection; called on the thread.
  let connect: @Sendable () throws -> any SQLSession
  let writes: Bool
  /// The maximum number of jobs in a transaction.
  let maximumJobs: Int
  /// The maximum number of lanes in a transaction.
  let maximumLanes: Int
  let onEnd: @Sendable () -> Void

  /// Starts the thread.
  func start() {
    let thread = Thread { run() }
    thread.name = writes ? "stead-write" : "stead-read"
    thread.start()
  }

  /// The thread's loop. The connection is made at the first job, and again at the next one after it broke. If that
  /// fails, the jobs fail at once instead of waiting: clients send them again, after a pause that the answer names.
  private func run() {
    var session: (any SQLSession)?
    while let jobs = queue.take(maximumJobs: maximumJobs, maximumLanes: maximumLanes) {
      do {
        // Asked before each group of jobs: a connection can break while nothing is sent.
        if session?.isBroken ?? true { session = try connect() }
        if let session { perform(jobs, session) }
      } catch {
        // There is no connection, so nothing of the jobs was begun.
        for job in jobs { job.fail(error) }
      }
      // Only now: another worker must not begin with a zone whose transaction is still open.
      queue.finish(jobs)
    }
    onEnd()
  }

  /// Runs jobs in one transaction, and runs them again if it conflicts with another one, ``maximumAttempts`` times in
  /// all.
  ///
  /// There is no pause between attempts: a deadlock or a serialization failure is over once this transaction is
  /// rolled back. After any other failure of the transaction all of its jobs fail, since none was committed.
  private func perform(_ jobs: [Job], _ session: any SQLSession) {
    var attempt = 1
    while true {
      do {
        return try once(jobs, session)
      } catch let error as EngineError where error.code == .retry && attempt < Self.maximumAttempts
      {
        session.rollBack()
        attempt += 1
      } catch {
        session.rollBack()
        for job in jobs { job.fail(error) }
        return
      }
    }
  }

  /// One transaction for all jobs, each in a savepoint. If it throws, no job has been reported as successful.
  ///
  /// Invariant: a job is reported as successful only after the commit, and one job's own failure rolls back its work
  /// alone. PostgreSQL needs the savepoint for that: after an error it refuses every other statement of the
  /// transaction.
  private func once(_ jobs: [Job], _ session: any SQLSession) throws {
    try writes ? session.beginWriting() : session.beginReading()
    // A single job needs none: if it fails, its whole transaction is rolled back.
    let usesSavepoints = jobs.count > 1
    var done: [@Sendable () -> Void] = []
    for job in jobs {
      do {
        if usesSavepoints { try session.execute("SAVEPOINT job") }
        done.append(try job.work(session))
        if usesSavepoints { try session.execute("RELEASE SAVEPOINT job") }
      } catch let error as EngineError {
        // The connection, the disk or another transaction failed, not a single job.
        throw error
      } catch {
        if usesSavepoints {
          try session.execute("ROLLBACK TO SAVEPOINT job")
          try session.execute("RELEASE SAVEPOINT job")
        } else {
          // After an error PostgreSQL's transaction is unusable, and there is no savepoint to go
          // back to.
          session.rollBack()
        }
        done.append { job.fail(error) }
      }
    }
    // A single job that failed has ended its transaction already.
    if session.isInTransaction { try session.execute("COMMIT") }
    // After the commit: until then no request may be told that it succeeded.
    for call in done { call() }
  }
}
#endif
