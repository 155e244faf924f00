import Foundation
import Testing

/// A trait of tests that need something which not every machine has.
///
/// Where it is missing the test is skipped, and a line about it is appended to the file that the variable
/// `STEAD_SKIPPED` names: `machine`, or `user` where another user has it; the reason; the test; with tabs
/// between them. With `STEAD_REQUIRE_ALL` the test fails instead, unless another user can run it.
package struct Needs: TestTrait, SuiteTrait {
  /// Why a test cannot be run that has to be.
  package struct Missing: Error, CustomStringConvertible {
    package let description: String
  }

  private static let log = ProcessInfo.processInfo.environment["STEAD_SKIPPED"]
  private static let requiresAll =
    ProcessInfo.processInfo.environment["STEAD_REQUIRE_ALL"].map { !$0.isEmpty } ?? false

  package let isRecursive = true
  private let requirements: [Requirement]

  fileprivate init(_ requirements: [Requirement]) { self.requirements = requirements }

  package func prepare(for test: Test) async throws {
    // A suite's tests have the trait, too.
    guard !test.isSuite, let missing = requirements.first(where: { $0.lack != nil }),
      let reason = missing.lack
    else { return }
    if Self.requiresAll, !missing.isOfAnotherUser { throw Missing(description: reason) }
    try Self.note("\(missing.isOfAnotherUser ? "user" : "machine")\t\(reason)\t\(test.id)\n")
    try await ConditionTrait.disabled(Comment(rawValue: reason)).prepare(for: test)
  }

  private static func note(_ line: String) throws {
    guard let log else { return }
    let file = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o666)
    defer { close(file) }
    // With one write, since tests are prepared in parallel.
    let count = Array(line.utf8).withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    guard count == line.utf8.count else { throw CocoaError(.fileWriteUnknown) }
  }
}

extension Trait where Self == Needs {
  package static func needs(_ requirements: Requirement...) -> Self { Needs(requirements) }
}
