import SteadTestSupport
import Testing

@Suite struct WorkerTests {
  @Test func `refuses a command that does not exist`() throws {
    let worker = try WorkerProcess([WorkerProcess.program("CachesWorker"), "nonsense"])
    #expect(worker.finish() == 64)
  }
}
