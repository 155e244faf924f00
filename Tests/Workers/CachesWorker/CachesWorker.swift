import Foundation
import SteadCaches
import SteadFiles
import SteadTestSupport

// A second process, for tests of caches that several programs share.
//
// Failures and the deadline: WorkerMain.

import Foundation
import SteadCaches
import SteadTestSupport

@main struct CachesWorker {
  static func main() {
    WorkerMain.run { arguments in
      if try DiskWorker.run(arguments) { return }
      if TimesWorker.run(arguments) { return }
      if HTTPWorker.run(arguments) { return }
      if try HomeWorker.run(arguments) { return }
      WorkerMain.misuse()
    }
  }
}

/// What an app does whose home directory may have no place for caches.
enum HomeWorker {
  /// Runs the command, and says whether it is the one that it knows.
  static func run(_ arguments: [String]) throws -> Bool {
    guard arguments == ["home"], let url = URL(string: "http://a.example/") else { return false }
    Stead.onProblem = { say("\($0.code) \($0.subject)") }
    let directories = try AppDirectories(id: "org.example.app")
    let values = DiskCache(named: "values", in: directories)
    let responses = HTTPCache(named: "responses", in: directories)
    for _ in 0..<3 {
      say("small \(values.setData(Data([1]), for: "a"))")
      say("large \(values.setData(Data(count: 200_000), for: "b"))")
      say("found \(values.data(for: "a") != nil || values.data(for: "b") != nil)")
      request(url, from: responses)
    }
    values.removeAll()
    responses.removeAll()
    request(url, from: responses)
    return true
  }

  private static func request(_ url: URL, from cache: HTTPCache) {
    WorkerMain.wait {
      let reply = try await cache.response(to: HTTPCache.Request(url: url)) { _ in
        let head = HTTPCache.Response(status: 200, fields: ["Cache-Control": "max-age=1000"])
        return (head, HTTPCache.Body(Data("body".utf8)))
      }
      let body = try await reply.body.data()
      say("\(String(decoding: body, as: UTF8.self)) \(reply.outcome.source)")
    }
  }
}
