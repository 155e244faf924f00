import ExampleTestSupport
import Foundation
import Testing

@testable import HTTPCacheKit

@Suite struct HTTPCacheTests {
  private let workshop: Workshop
  private let program: String

  init() throws {
    workshop = try Workshop()
    program = try Workshop.program("httpcache")
  }

  /// The columns of each line of the table, by path.
  private func results(_ output: String) -> [String: [String]] {
    var results: [String: [String]] = [:]
    for line in output.split(separator: "\n") where line.hasPrefix("/") {
      // Results have one space at most, columns two at least.
      let columns = line.components(separatedBy: "  ").map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      .filter { !$0.isEmpty }
      results[columns[0]] = Array(columns.dropFirst())
    }
    return results
  }

  @Test func `every page is loaded as its server allows`() throws {
    let output = try workshop.succeed(program, workshop.directory.path)
    #expect(
      results(output) == [
        "/style.css": ["miss", "hit", "hit", "2000"],
        "/photo.jpg": ["miss", "hit", "hit", "200000"],
        "/news": ["miss", "revalidated", "stale", "30000"],
        "/account": ["miss", "hit", "hit", "4000"],
        "/balance": ["miss", "miss", "not stored", "500"],
      ])
    // 2,000 + 200,000 + 30,000 + 4,000 bytes, in two rounds.
    #expect(output.hasSuffix("472000 bytes were not sent again\n"))
  }

  @Test func `what is stored is there for the next process`() throws {
    try workshop.succeed(program, workshop.directory.path)
    let output = try workshop.succeed(program, "--offline", workshop.directory.path)
    #expect(
      results(output) == [
        "/style.css": ["hit", "2000"], "/photo.jpg": ["hit", "200000"],
        "/news": ["stale", "30000"],
        "/account": ["hit", "4000"], "/balance": ["not stored", "0"],
      ])
  }

  @Test func `a wrong call is explained`() throws {
    let end = try workshop.run([program])
    #expect(end.status == 2)
    #expect(end.output.hasPrefix("usage: httpcache DIRECTORY"))
  }

  @Test func `a page that the client has is not sent again`() {
    let request = "GET /news HTTP/1.1\r\nIf-None-Match: \"news-7\"\r\n\r\n"
    let response = String(decoding: PageServer.response(to: request), as: UTF8.self)
    #expect(response.hasPrefix("HTTP/1.1 304 Not Modified\r\n"))
    #expect(response.hasSuffix("\r\n\r\n"))
  }
}
