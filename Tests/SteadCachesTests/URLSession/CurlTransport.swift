import Foundation
import SteadCaches
import Synchronization

/// Sends requests without a body by the command `curl`, which accepts trailers. Responses' bodies are in memory.
enum CurlTransport {
  enum Failure: Error { case ended(Int32), noHead, requestHasBody, headTooLarge }

  static let fetch: HTTPCache.Fetch = { request in
    // The closure isn't given it.
    if request.hasBody { throw Failure.requestHasBody }
    let head = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: head) }
    // The first keeps the user's `~/.curlrc` from counting, with which curl could follow redirects, for example.
    var arguments = ["curl", "--disable", "--silent"]
    arguments += ["--connect-timeout", "60", "--speed-limit", "1", "--speed-time", "60"]
    arguments += ["--dump-header", head.path(percentEncoded: false)]
    arguments += request.method == "HEAD" ? ["--head"] : ["--request", request.method]
    arguments += ["--header", "@-", "--", request.url.absoluteString]
    // Through a pipe, since others on the machine can read a process's arguments.
    let fields = request.fields.map { "\($0.name): \($0.value)\n" }.joined()
    let body = try await run(arguments, input: Data(fields.utf8))
    guard let response = response(String(decoding: try Data(contentsOf: head), as: UTF8.self))
    else { throw Failure.noHead }
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

  /// A process that ends with its task.
  private final class Running: Sendable {
    private let state = Mutex((process: Process?.none, isCancelled: false))

    func begin(_ process: Process) throws {
      try state.withLock { state in
        if state.isCancelled { throw CancellationError() }
        try process.run()
        state.process = process
      }
    }

    func cancel() {
      state.withLock { state in
        state.isCancelled = true
        if let process = state.process, process.isRunning { process.terminate() }
      }
    }
  }

  private static func run(_ arguments: [String], input: Data) async throws -> Data {
    let running = Running()
    let body = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(with: Result { try run(arguments, input: input, as: running) })
        }
      }
    } onCancel: {
      running.cancel()
    }
    try Task.checkCancellation()
    return body
  }

  private static func run(_ arguments: [String], input: Data, as running: Running) throws -> Data {
    let (process, source, output) = (Process(), Pipe(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    (process.standardInput, process.standardOutput) = (source, output)
    // Before the process begins: a write to one that has ended would end this one, and a pipe has room for so much.
    guard input.count <= 65_536 else { throw Failure.headTooLarge }
    try source.fileHandleForWriting.write(contentsOf: input)
    try source.fileHandleForWriting.close()
    try running.begin(process)
    let body = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure.ended(process.terminationStatus) }
    return body
  }
}

func load(_ url: URL, cache: HTTPCache) async throws -> Data {
  let request = HTTPCache.Request(url: url)
  return try await cache.response(to: request, fetch: CurlTransport.fetch).body.data()
}
