// Runs the public suite of HTTP cache tests; Scripts/http-cache-tests says how.

import CacheSuite
import Foundation
import SteadCaches

@main struct CacheSuiteRunner {
  private enum Way: String {
    case virtual = "--virtual"
    case shared = "--shared"
    case session = "--session"
    case sharedSession = "--shared-session"
    case sessionWithoutCache = "--session-without-cache"
  }

  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let path = arguments.last, arguments.count == 2,
      let way = arguments.first.flatMap(Way.init)
    else {
      FileHandle.standardError.write(
        Data(
          "usage: CacheSuiteRunner --virtual|--shared|--session|--shared-session|--session-without-cache FILE\n"
            .utf8))
      exit(EX_USAGE)
    }
    let suites = try CacheSuite.read(URL(filePath: path))
    let results =
      switch way {
      case .virtual: await VirtualRun.httpCache().results(of: suites)
      case .shared: await VirtualRun.httpCache(isShared: true).results(of: suites)
      case .sharedSession: try await SessionRun(.real, isShared: true).results(of: suites)
      case .session: try await SessionRun(.real).results(of: suites)
      case .sessionWithoutCache: try await SessionRun(.real, usesCache: false).results(of: suites)
      }
    print(results.table)
    let isShared = [.shared, .sharedSession].contains(way)
    let exceptions =
      (isShared ? SuiteException.ofSharedCache : SuiteException.ofCache)
      + (way == .session ? SuiteException.ofSession : [])
    for exception in exceptions where results.isFailed(exception.id) {
      print("exception: \(exception.id): \(exception.reason)")
    }
    let isComplete = results.unexpectedFailures(but: exceptions).isEmpty
    exit(isComplete ? EXIT_SUCCESS : EXIT_FAILURE)
  }
}
