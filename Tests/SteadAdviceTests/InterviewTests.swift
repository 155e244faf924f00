import Foundation
import SteadAdvice
import SteadAdviceCommand
import Synchronization
import Testing

/// A person who knows the answers walks through the questions of the command.
struct InterviewTests {
  /// Answers the question that was written last, and counts.
  private final class Person: Sendable {
    private let situation: Situation
    private let state = Mutex<(text: String, count: Int)>(("", 0))

    init(_ situation: Situation) { self.situation = situation }

    var text: String { state.withLock(\.text) }
    var count: Int { state.withLock(\.count) }

    func hear(_ text: String) { state.withLock { $0.text += text } }

    func answer() -> String? {
      state.withLock { state in
        state.count += 1
        let asked = (Question.all + [.amount]).max { one, other in
          position(of: one, in: state.text) < position(of: other, in: state.text)
        }
        return asked.map { answer(to: $0) }
      }
    }

    private func position(of question: Question, in text: String) -> Int {
      text.ranges(of: question.text).last.map {
        text.distance(from: text.startIndex, to: $0.lowerBound)
      } ?? -1
    }

    /// Nothing for what the situation doesn't say.
    private func answer(to question: Question) -> String {
      let size = situation.size.map { "\($0) bytes" }
      let count = situation.count.map(String.init)
      return switch question.id {
      case "kind": situation.kind?.rawValue ?? ""
      case "exposure": situation.exposure?.rawValue ?? ""
      case "origin": situation.origin?.rawValue ?? ""
      case "lifetime": situation.lifetime?.rawValue ?? ""
      case "access": situation.access?.rawValue ?? ""
      case "devices": situation.devices?.rawValue ?? ""
      case "ground": situation.ground?.rawValue ?? ""
      case "count": count ?? ""
      case "size": size ?? ""
      default: [count, size].compactMap(\.self).joined(separator: " of ")
      }
    }
  }

  @Test(arguments: SituationTests.all)
  func `five questions are enough`(example: SituationTests.Case) {
    let person = Person(example.situation)
    let command = AdviceCommand(
      directory: FileManager.default.temporaryDirectory, isTerminal: true,
      readLine: { person.answer() }, print: { person.hear($0) }, complain: { _ in })
    #expect(command.run([]) == .clean)
    #expect((1...5).contains(person.count), "\(person.text)")
    #expect(person.text.contains("Keep it in \(example.store.title)."), "\(person.text)")
    #expect(!person.text.contains("The answer "), "\(person.text)")
  }

  private static let amounts: [(answer: String, count: Int?, size: Int?)] = [
    ("500 of 10KB", 500, 10_240), ("5,000 x 1 MB", 5_000, 1_048_576), ("12", 12, nil),
    ("2k", 2_000, nil), ("20 bytes", nil, 20), ("1.5MB", nil, 1_572_864),
  ]

  @Test(arguments: amounts)
  func `an amount is a number, a size or both`(answer: String, count: Int?, size: Int?) {
    var situation = Situation()
    #expect(Question.amount.answer(answer, in: &situation))
    #expect(situation.count == count && situation.size == size)
  }

  @Test(arguments: ["", "of", "many of 10KB", "5 of", "of 10KB", "-1", "5 of -1", "x"])
  func `other amounts are refused`(answer: String) {
    var situation = Situation()
    #expect(!Question.amount.answer(answer, in: &situation))
    #expect(situation == Situation())
  }
}
