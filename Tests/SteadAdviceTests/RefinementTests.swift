import Testing

@testable import SteadAdvice

/// What is never asked changes what the advice says, and never the store.
@Suite struct RefinementTests {
  private func advice(_ kind: Situation.Kind, _ option: String, _ answer: String) throws -> Advice {
    let question = try #require(Question.refinements.first { $0.id == option })
    var situation = Situation(kind: kind, devices: .several)
    #expect(question.answer(answer, in: &situation))
    return Advisor.advice(for: situation)
  }

  private func content(_ advice: Advice) -> [String] {
    advice.reasons + advice.exits + [advice.declaration, advice.directory, advice.sync]
  }

  private static let unusual = [
    ("sharing", "processes"), ("sharing", "extension"), ("sharing", "daemon"),
    ("sharing", "editor"), ("retention", "newest"), ("retention", "age"), ("platforms", "apple"),
    ("platforms", "linux"), ("observers", "views"), ("observers", "processes"),
    ("shape", "changing"),
  ]

  @Test(arguments: unusual)
  func eachAnswerChangesWhatIsSaidOfRecords(option: String, answer: String) throws {
    let usual = Advisor.advice(for: Situation(kind: .records, devices: .several))
    #expect(try content(advice(.records, option, answer)) != content(usual))
  }

  @Test func theseAreAllUnusualAnswers() {
    for question in Question.refinements {
      let tested = Self.unusual.filter { $0.0 == question.id }.map(\.1)
      #expect(Set(question.choices.map(\.name)) == Set(tested + [question.usual ?? ""]))
    }
  }

  @Test(arguments: Situation.Kind.allCases)
  func noAnswerChangesTheStore(kind: Situation.Kind) throws {
    let usual = Advisor.advice(for: Situation(kind: kind, devices: .several))
    for question in Question.refinements {
      for choice in question.choices {
        #expect(try advice(kind, question.id, choice.name).store == usual.store)
      }
      let named = try advice(kind, question.id, try #require(question.usual))
      #expect(content(named) == content(usual))
    }
  }

  @Test func refinementsAreNeverAsked() {
    #expect(Set(Question.all.map(\.id)).isDisjoint(with: Question.refinements.map(\.id)))
  }

  @Test func eachSaysWhatTheStoreDoes() throws {
    #expect(try advice(.records, "sharing", "extension").declaration.contains("groupContainer"))
    #expect(try advice(.cache, "retention", "age").declaration.contains("timeToLive"))
    #expect(try advice(.setting, "platforms", "apple").sync.hasPrefix("iCloud"))
    let observed = try advice(.records, "observers", "processes")
    #expect(observed.reasons.contains { $0.contains("HistoryObserver") })
    let changing = try advice(.records, "shape", "changing")
    #expect(changing.reasons.contains { $0.contains("SchemaMigrationPlan") })
  }
}
