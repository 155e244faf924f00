package import Foundation
package import SteadFiles
internal import Synchronization

/// The problems of one directory that are reported while it exists; others go where they went before.
package final class Reports: Sendable {
  private static let all = Mutex<[String: Mutexed]>([:])
  private static let install: Void = {
    let before = Stead.onProblem
    Stead.onProblem = { problem in
      let reports = all.withLock { $0[problem.subject] }
      if let reports { reports.add(problem) } else { before(problem) }
    }
  }()

  fileprivate final class Mutexed: Sendable {
    let problems = Mutex<[Stead.Problem]>([])
    func add(_ problem: Stead.Problem) { problems.withLock { $0.append(problem) } }
  }

  private let path: String
  private let own = Mutexed()

  package init(for url: URL) {
    Self.install
    path = (try? url.checkedPath) ?? ""
    Self.all.withLock { $0[path] = own }
  }

  deinit { _ = Self.all.withLock { $0.removeValue(forKey: path) } }

  package var problems: [Stead.Problem] { own.problems.withLock { $0 } }
  package var codes: [Stead.Problem.Code] { problems.map(\.code) }
}
