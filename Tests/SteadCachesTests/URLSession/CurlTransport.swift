import Foundation
import SteadCaches

/// Sends requests by the command `curl`, which accepts trailers. Bodies are in memory.
enum CurlTransport {
  struct Failure: Error { var status: Int32 }

  static let fetch: HTTPCache.Fetch = { request in
    let head = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: head) }
    var arguments = ["curl", "--silent", "--dump-header", head.path(percentEncoded: false)]
    arguments += request.method == "HEAD" ? ["--head"] : ["--request", request.method]
    arguments += ["--header", "@-", "--", request.url.absoluteString]
    // Through a pipe, since others on the machine can read a process's arguments.
    let fields = request.fields.map { "\($0.name): \($0.value)\n" }.joined()
    let body = try await run(arguments, input: Data(fields.utf8))
    guard let response = response(String(decoding: try Data(contentsOf: head), as: UTF8.self))
    else {
      throw Failure(status: 0)
    }
    return (response, HTTPCache.Body(request.method == "HEAD" ? Data() : body))
  }

  /// The final response's head: interim ones are before it, and trailers after it.
  private static func response(_ text: String) -> HTTPCache.Response? {
    let heads = text.replacing("\r\n", with: "\n").components(separatedBy: "\n\n")
    let lines = heads.last { $0.hasPrefix("HTTP/") }?.components(separatedBy: "\n") ?? []
    guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { return nil }
    let fields = lines.dropFirst().compactMap { line -> (String, String)? in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      return (String(line[..<colon]), value)
    }
    return HTTPCache.Response(status: status, fields: HTTPCache.Fields(fields))
  }

  private static func run(_ arguments: [String], input: Data) async throws -> Data {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        let result = Result<Data, any Error> {
          let (process, source, output) = (Process(), Pipe(), Pipe())
          process.executableURL = URL(filePath: "/usr/bin/env")
          process.arguments = arguments
          (process.standardInput, process.standardOutput) = (source, output)
          try process.run()
          try source.fileHandleForWriting.write(contentsOf: input)
          try source.fileHandleForWriting.close()
          let body = try output.fileHandleForReading.readToEnd() ?? Data()
          process.waitUntilExit()
          guard process.terminationStatus == 0 else {
            throw Failure(status: process.terminationStatus)
          }
          return body
        }
        continuation.resume(with: result)
      }
    }
  }
}

func load(_ url: URL, cache: HTTPCache) async throws -> Data {
  let request = HTTPCache.Request(url: url)
  return try await cache.response(to: request, fetch: CurlTransport.fetch).body.data()
}
