import Foundation
import SteadTestSupport
import Testing

@testable import SteadAdvice

@Suite(.ownThread) struct AdvisorTests {
  /// Asks until nothing is left to ask; what is asked isn't answered otherwise.
  private func ask(_ answers: [String: String]) throws -> (asked: [String], advice: Advice) {
    var situation = Situation()
    var asked: [String] = []
    while let question = Advisor.nextQuestion(for: situation) {
      asked.append(question.id)
      let answer = try #require(answers[question.id], "\(question.id) was not expected")
      #expect(question.answer(answer, in: &situation))
    }
    return (asked, Advisor.advice(for: situation))
  }

  @Test func `asks nothing more once it is clear`() throws {
    #expect(try ask(["kind": "managed"]).asked == ["kind"])
    let secret = try ask(["kind": "secret", "size": "40"])
    #expect(secret.asked == ["kind", "size"])
    #expect(secret.advice.store == .secrets)
  }

  @Test func `asks what changes the answer`() throws {
    let (asked, advice) = try ask([
      "kind": "payloads", "exposure": "harmless", "amount": "300 of 2KB", "access": "whole",
      "devices": "one",
    ])
    #expect(asked == ["kind", "exposure", "amount", "access", "devices"])
    #expect(advice.store == .payloadHistory)
  }

  /// Whatever is answered, five questions are enough, and no other answers change the decision.
  @Test(arguments: Situation.Kind.allCases)
  func `what is not asked makes no difference`(kind: Situation.Kind) throws {
    var random = SplitMix(seed: Effort.seed)
    for _ in 0..<Effort.times(8) {
      var situation = Situation(kind: kind)
      var count = 1
      while let question = Advisor.nextQuestion(for: situation) {
        count += 1
        let answer = try #require(question.samples.randomElement(using: &random))
        #expect(question.answer(answer, in: &situation), "\(answer)")
      }
      #expect(count <= 5, "\(situation)")
      let open = Question.all.filter { !$0.isAnswered(situation) }
      for _ in 0..<100 {
        var other = situation
        for question in open {
          let answer = try #require(question.samples.randomElement(using: &random))
          #expect(question.answer(answer, in: &other))
        }
        #expect(Decision(other) == Decision(situation), "\(situation) \(other)")
      }
    }
  }

  /// Each question that is asked can still change the decision, which trying all answers shows.
  @Test func `what is asked makes a difference`() throws {
    var random = SplitMix(seed: Effort.seed)
    for _ in 0..<Effort.times(8) {
      var situation = Situation(kind: Situation.Kind.allCases.randomElement(using: &random))
      while let question = Advisor.nextQuestion(for: situation) {
        var decisions: Set<Decision> = []
        for _ in 0..<2_000 where decisions.count < 2 {
          var other = situation
          for question in Question.all where !question.isAnswered(other) {
            _ = question.answer(
              try #require(question.samples.randomElement(using: &random)), in: &other)
          }
          decisions.insert(Decision(other))
        }
        #expect(decisions.count == 2, "\(situation) \(question.id)")
        let answer = try #require(question.samples.randomElement(using: &random))
        #expect(question.answer(answer, in: &situation))
      }
    }
  }

  @Test func `names limits that are near`() {
    func names(_ situation: Situation) -> [String] {
      Advisor.advice(for: situation).thresholds.map(\.name)
    }
    #expect(names(.init(kind: .setting, size: 4 << 10)) == [])
    #expect(names(.init(kind: .setting, size: 4 << 10 + 1)) == ["one preference value"])
    #expect(names(.init(kind: .payloads, count: 501)) == ["entries of a payload history"])
    #expect(names(.init(kind: .secret, size: 5_000)) == ["one secret"])
  }

  @Test func `refuses answers that are none`() {
    for question in Question.all {
      var situation = Situation()
      #expect(!question.answer("no such answer", in: &situation))
      #expect(situation == Situation())
    }
    var situation = Situation()
    #expect(!Question.all[4].answer("-1", in: &situation))
  }

  @Test func `the text says all of it`() {
    for store in Store.allCases { #expect(!store.title.isEmpty) }
    let text = Advisor.advice(for: .init(kind: .setting, size: 30 << 10, devices: .several)).text
    for part in [
      "Keep it in preferences (UserDefaults).", "Mind the limit: one preference value",
      "4 KB", "64 KB", "Product: SteadPreferences", "    import SteadPreferences", "Directory:",
      "NSUbiquitousKeyValueStore", "Leave it when", "P09",
    ] {
      #expect(text.contains(part), "\(part)")
    }
  }

  @Test func `the JSON comes back`() throws {
    let advice = Advisor.advice(for: .init(kind: .records, count: 5, size: 200 << 10))
    let data = try JSONEncoder().encode(advice)
    #expect(try JSONDecoder().decode(Advice.self, from: data) == advice)
    #expect(String(decoding: data, as: UTF8.self).contains("\"records-with-files\""))
  }

  @Test(arguments: [
    ("0", 0), ("500", 500), ("10KB", 10_240), ("1.5 MB", 1_572_864), ("2k", 2_000),
    ("5,000", 5_000), ("1GB", 1 << 30), ("12 b", 12),
  ])
  func `reads numbers as people write them`(text: String, number: Int) {
    #expect(ByteCount.parse(text) == number)
  }

  @Test(arguments: ["", "KB", "many", "1e400", "nan", "10TB", "99999999999999999999GB"])
  func `reads no others`(text: String) { #expect(ByteCount.parse(text) == nil) }

  @Test func `limits of pieces are grouped`() {
    #expect(
      Threshold.historyCount.text.hasPrefix(
        "entries of a payload history: fine up to 500; beyond 2,500, use another store."))
    #expect(
      [0, 12, 123, 1_234, 1_234_567].map(ByteCount.grouped) == [
        "0", "12", "123", "1,234", "1,234,567",
      ])
  }

  @Test func `key-value sync has its limit`() {
    func advice(_ total: Int, _ devices: Situation.Devices) -> Advice {
      Advisor.advice(
        for: .init(kind: .setting, count: total >> 10, size: 1 << 10, devices: devices))
    }
    #expect(
      advice(900 << 10, .several).thresholds.map(\.name) == ["all values of a key-value sync"])
    #expect(advice(2 << 20, .several).store == .records)
    #expect(advice(2 << 20, .one).store == .preferences)
    #expect(advice(2 << 20, .one).thresholds.map(\.name) == ["all values of a preferences domain"])
  }

  @Test func `writes bytes as people read them`() {
    #expect(
      [0, 1023, 1 << 10, 1536, 64 << 20, 3 << 30].map(ByteCount.text) == [
        "0 bytes", "1023 bytes", "1 KB", "1.5 KB", "64 MB", "3 GB",
      ])
  }
}
