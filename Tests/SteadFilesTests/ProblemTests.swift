import Foundation
import Testing

@testable import SteadFiles

// One after the other, since there is one handler for the whole process.
@Suite(.serialized) struct ProblemTests {
  private let problem = Stead.Problem(
    code: .init("test"), product: .files, subject: "/tmp/a\nb", message: "It is full. Make room.")

  @Test func `the handler is called with the problem`() throws {
    let received = ForkSafeLock<[Stead.Problem]>([])
    let previous = Stead.onProblem
    defer { Stead.onProblem = previous }
    Stead.onProblem = { problem in received.withLock { $0.append(problem) } }
    Stead.report(problem)
    let all = received.withLock { $0 }.filter { $0.code == problem.code }
    let first = try #require(all.first)
    #expect(all.count == 1)
    #expect(first.product == .files)
    #expect(first.subject == problem.subject)
    #expect("\(first)" == "/tmp/a\nb: It is full. Make room.")
  }

  @Test func `a problem inside the handler does not reach it again`() {
    let count = ForkSafeLock(0)
    let previous = Stead.onProblem
    defer { Stead.onProblem = previous }
    let code = Stead.Problem.Code("nested")
    Stead.onProblem = { problem in
      guard problem.code == code else { return }
      count.withLock { $0 += 1 }
      Stead.report(problem)
    }
    Stead.report(Stead.Problem(code: code, product: .files, message: "A problem of a test."))
    #expect(count.withLock { $0 } == 1)
  }

  @Test func `the cause is named once`() {
    let error = FileError(code: .noSpace, message: "The disk is full.", path: "/tmp/a")
    var problem = Stead.Problem(
      code: .init("test"), product: .files, subject: "a", message: "It was not written.",
      cause: error)
    #expect("\(problem)" == "a: It was not written. Cause: \(error)")
    problem.message = error.message
    #expect("\(problem)" == "a: The disk is full.")
  }

  #if !canImport(Darwin)
    @Test(.exitTests) func `the default handler writes one line`() async throws {
      let result = await #expect(
        processExitsWith: .success, observing: [\.standardErrorContent]
      ) {
        Stead.report(
          Stead.Problem(
            code: .init("test"), product: .files, subject: "/tmp/a\nb",
            message: "It is full. Make room."))
        exit(EXIT_SUCCESS)
      }
      let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
      let lines = text.split(separator: "\n").filter { $0.contains("stead:files") }
      #expect(lines.count == 1)
      #expect(
        lines[0].contains(
          /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z .+\[\d+\] Error \[stead:files\] \/tmp\/a\\nb: It is full\. Make room\.$/
        ))
    }

    @Test func `a long problem is cut between characters`() {
      var long = problem
      long.message = String(repeating: "é", count: 5_000)
      let line = long.line(at: Date(timeIntervalSince1970: 0.5))
      #expect(line.count <= Stead.Problem.lineLimit)
      let text = String(decoding: line, as: UTF8.self)
      #expect(text.hasPrefix("1970-01-01T00:00:00.500000Z "))
      #expect(text.hasSuffix("é…\n"))
    }
  #endif
}
