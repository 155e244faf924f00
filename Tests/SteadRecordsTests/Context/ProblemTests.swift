import SwiftData
import Testing

// `Stead` comes with the import of SwiftData.
struct ProblemTests {
  @Model final class Listed {
    init() {}
  }

  @Model final class Unlisted {
    var secret: String
    init(secret: String) { self.secret = secret }
  }

  @Test func aProblemThatCannotBeThrownReachesTheHandler() async {
    await #expect(processExitsWith: .success) {
      let received = Box<[Stead.Problem]>([])
      Stead.onProblem = { problem in received.change { $0.append(problem) } }
      let elsewhere = try TestStore(.memory, Unlisted.self).context()
      let unlisted = Unlisted(secret: "opensesame")
      elsewhere.insert(unlisted)
      try elsewhere.save()
      let store = try TestStore(.memory, Listed.self)
      _ = store.context().model(for: unlisted.persistentModelID)
      let problem = try #require(received.value.first)
      #expect(received.value.count == 1)
      #expect(problem.product == .records)
      #expect(problem.code == .unknownModel)
      #expect("\(problem)".contains("Unlisted"))
      #expect(!"\(problem)".contains("opensesame"))
    }
  }
}
