#if !canImport(Darwin)
  import Testing
  import os

  @Suite struct LoggerTests {
    /// The lines that a child process wrote to standard error, without their times and process names.
    private func messages(
      _ result: ExitTest.Result?, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [String] {
      let result = try #require(result, sourceLocation: sourceLocation)
      let text = String(decoding: result.standardErrorContent, as: UTF8.self)
      return text.split(separator: "\n").compactMap { line in
        guard line.contains("com.example:tests] ") || line.contains("] Notice ") else { return nil }
        let parts = line.split(separator: " ", maxSplits: 2)
        return parts.count == 3 ? String(parts[2]) : nil
      }
    }

    @Test func `writes a line for each message from notice on`() async throws {
      let result = await #expect(
        processExitsWith: .success, observing: [\.standardErrorContent]
      ) {
        unsetenv("STEAD_LOG_LEVEL")
        let logger = Logger(subsystem: "com.example", category: "tests")
        logger.trace("trace")
        logger.debug("debug")
        logger.info("info")
        logger.log("log")
        logger.notice("notice")
        logger.warning("warning")
        logger.error("error")
        logger.critical("critical")
        logger.fault("fault")
        logger.log(level: .info, "info by level")
        logger.log(level: .error, "error by level")
        Logger(.disabled).fault("never")
        Logger().log("nowhere")
        os_log("os_log")
        os_log(.error, log: OSLog(subsystem: "com.example", category: "tests"), "os_log error")
      }
      #expect(
        try messages(result) == [
          "Notice [com.example:tests] log", "Notice [com.example:tests] notice",
          "Error [com.example:tests] warning", "Error [com.example:tests] error",
          "Fault [com.example:tests] critical", "Fault [com.example:tests] fault",
          "Error [com.example:tests] error by level", "Notice nowhere", "Notice os_log",
          "Error [com.example:tests] os_log error",
        ])
    }

    @Test func `writes what the environment asks for`() async throws {
      let result = await #expect(
        processExitsWith: .success, observing: [\.standardErrorContent]
      ) {
        setenv("STEAD_LOG_LEVEL", "debug", 1)
        setenv("STEAD_LOG_PRIVATE_DATA", "1", 1)
        let logger = Logger(subsystem: "com.example", category: "tests")
        logger.debug("\("a") \("b", privacy: .private) \("c", privacy: .sensitive)")
      }
      #expect(try messages(result) == ["Debug [com.example:tests] a b <sensitive>"])
    }

    @Test func `does not work out what is not written`() async {
      await #expect(processExitsWith: .success) {
        setenv("STEAD_LOG_LEVEL", "error", 1)
        Logger().notice("\({ () -> Int in exit(1) }())")
      }
    }

    @Test func `stamps a line with time and process`() async throws {
      let result = await #expect(
        processExitsWith: .success, observing: [\.standardErrorContent]
      ) {
        Logger(subsystem: "com.example", category: "tests").notice("stamp")
      }
      let bytes = try #require(result).standardErrorContent
      let line = try #require(
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").first {
          $0.hasSuffix(" stamp")
        })
      let format =
        /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \S.*\[\d+\] Notice \[com\.example:tests\] stamp/
      #expect(line.wholeMatch(of: format) != nil, "\(line)")
    }

    @Test func `keeps the lines of many threads apart`() async throws {
      let result = await #expect(
        processExitsWith: .success, observing: [\.standardErrorContent]
      ) {
        let logger = Logger(subsystem: "com.example", category: "tests")
        await withTaskGroup(of: Void.self) { group in
          for letter in "abcdefgh" {
            group.addTask {
              let text = String(repeating: letter, count: 2000)
              for _ in 0..<20 { logger.notice("\(text, privacy: .public)") }
            }
          }
        }
      }
      let lines = try messages(result)
      #expect(lines.count == 160)
      #expect(lines.allSatisfy { Set($0.split(separator: " ").last ?? "").count == 1 })
    }
  }
#endif
