import SteadTestSupport
import Testing

@Suite struct WorkerTests {
  @Test func refusesACommandThatDoesNotExist() throws {
    let worker = try WorkerProcess([WorkerProcess.program("CachesWorker"), "nonsense"])
    #expect(worker.finish() == 64)
  }
}
