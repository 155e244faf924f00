import Foundation

/// A thread with its own connection, which runs the jobs of a queue.
struct Worker: Sendable {
  /// The maximum number of attempts at work that conflicts with another transaction.
  static let maximumAttempts = 8

  let queue: WorkQueue
  let connect: @Sendable () throws -> any SQLSession
  let writes: Bool
  let maximumJobs: Int
  let maximumLanes: Int
  let onEnd: @Sendable () -> Void

  /// Starts the thread.
  func start() {
    let thread = Thread { run() }
    thread.name = writes ? "stead-write" : "stead-read"
    thread.start()
  }

  private func run() {
    var session: (any SQLSession)?
    while let jobs = queue.take(maximumJobs: maximumJobs, maximumLanes: maximumLanes) {
      do {
        if session?.isBroken ?? true { session = try connect() }
        if let session { perform(jobs, session) }
      } catch {
        for job in jobs { job.fail(error) }
      }
      queue.finish(jobs)
    }
    onEnd()
  }

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
  private func once(_ jobs: [Job], _ session: any SQLSession) throws {
    try writes ? session.beginWriting() : session.beginReading()
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
          session.rollBack()
        }
        done.append { job.fail(error) }
      }
    }
    if session.isInTransaction { try session.execute("COMMIT") }
    for call in done { call() }
  }
}
