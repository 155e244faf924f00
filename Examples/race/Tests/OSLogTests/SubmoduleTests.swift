#if !canImport(Darwin)
  import Testing
  import os.lock
  import os.log

  // Model files of apps import parts of the module, and a Swift module has none.
  @Test func `the parts of the module os have what the module has`() {
    let logger = Logger(subsystem: "app", category: "parts")
    logger.debug("a line")
    #expect(OSAllocatedUnfairLock(initialState: 1).withLock { $0 + 1 } == 2)
  }
#endif
