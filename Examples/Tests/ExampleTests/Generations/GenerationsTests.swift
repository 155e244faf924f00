import ExampleTestSupport
import Foundation
import GenerationsKit
import SteadPreferences
import Testing

/// The program on files of the app's first version, which had no styles.
@Suite struct GenerationsTests {
  private let workshop: Workshop
  private let program: String

  init() throws {
    workshop = try Workshop()
    program = try Workshop.program("generations")
  }

  private struct FirstGeneration: Codable {
    var id = UUID()
    var prompt: String
    var optimizedPrompt = "better"
    var model = "model-1"
    var imageURL = URL(filePath: "/pictures/1.png")
    var createdAt = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
  }

  /// A property list with an array as JSON, whose last entry lost its identifier.
  private func writeFirstVersion(_ dates: JSONEncoder.DateEncodingStrategy) throws {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = dates
    let data = try encoder.encode([
      FirstGeneration(prompt: "a harbour"),
      FirstGeneration(
        prompt: "a hill", createdAt: Date(timeIntervalSinceReferenceDate: 700_000_000.25 - 60)),
    ])
    let text = String(decoding: data.dropLast(), as: UTF8.self) + #",{"prompt":"nobody's"}]"#
    let list = try PropertyListSerialization.data(
      fromPropertyList: [GenerationLog.key: Data(text.utf8)], format: .binary, options: 0)
    try list.write(to: workshop.file("\(GenerationLog.domain).plist"))
  }

  private func run(_ prompts: [String], style: String = "oil") throws -> String {
    let end = try workshop.run(
      [program, workshop.directory.path, style], input: prompts.map { $0 + "\n" }.joined())
    try #require(end.status == 0, "\(end.errors)")
    return end.output
  }

  @Test(arguments: [JSONEncoder.DateEncodingStrategy.deferredToDate, .iso8601])
  func `a file of the first version is upgraded`(_ dates: JSONEncoder.DateEncodingStrategy) throws {
    try writeFirstVersion(dates)
    let output = try run(["a lighthouse", "a boat"])
    #expect(
      output.hasPrefix(
        "History: 4, the newest first\n  a boat\n  a lighthouse\n  a harbour\n  a hill\n"))
    let history = try GenerationLog(directory: workshop.directory).history
    #expect(history.items.map(\.style) == ["oil", "oil", "none", "none"])
    let date = history.items[2].createdAt
    #expect(abs(date.timeIntervalSinceReferenceDate - 700_000_000.25) < 1)
  }

  @Test func `an entry that does not decode is kept and reported`() throws {
    try writeFirstVersion(.deferredToDate)
    for count in 1...3 {
      let output = try run(["prompt \(count)"])
      #expect(output.contains("is kept as it is: "))
      #expect(!output.contains("nobody's"))
    }
    let history = try GenerationLog(directory: workshop.directory).history
    #expect(history.undecodable.map(\.bytes) == [Data(#"{"prompt":"nobody's"}"#.utf8)])
  }

  @Test func `what outgrows preferences moves to records`() throws {
    try writeFirstVersion(.iso8601)
    let prompts = (0..<2_500).map { "prompt \($0)" }
    let output = try run(prompts)
    #expect(output.contains("Advice: "))
    #expect(output.contains("Moved 2502 to records; 1 stay in the history."))
    #expect(output.contains("Records: 2502, the newest first\n  prompt 2499\n  prompt 2498\n"))
    let log = try GenerationLog(directory: workshop.directory)
    #expect(log.history.isEmpty)
    #expect(log.history.undecodable.count == 1)
    #expect(try log.records(limit: 3_000).prompts == prompts.reversed() + ["a harbour", "a hill"])
  }
}
