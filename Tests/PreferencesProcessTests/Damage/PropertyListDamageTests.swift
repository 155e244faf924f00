import Foundation
import SteadPreferences
import Testing

/// A property list that is damaged. One that cannot be read is kept aside and written again from the
/// journal; one that can be read is what somebody has edited, whatever that was.
@Suite(.ownThread) struct PropertyListDamageTests {
  enum Damage: CaseIterable { case truncated, flipped }

  /// From one byte that is damaged to the next.
  private static let distance = Effort.isLong ? 1 : 2

  @Test(arguments: Damage.allCases)
  func `the journal counts`(damage: Damage) throws {
    let sample = try SampleDomain()
    let all = try #require(sample.states.last)
    let parent = try TemporaryDirectory(inMemory: true)
    var worker = try Worker(URL(filePath: "/"), ["inspect"])
    defer { withExtendedLifetime(parent) { worker.end() } }
    var (reports, problems) = (0, [String]())
    for position in stride(from: 0, to: sample.propertyList.count, by: Self.distance) {
      let damaged =
        damage == .truncated
        ? sample.propertyList.prefix(position)
        : SampleDomain.flip(sample.propertyList, at: position)
      guard
        let directory = try DamagedDirectory(
          journal: sample.journal, propertyList: damaged, worker, in: parent)
      else {
        problems.append("\(damage) at \(position): the process ended")
        worker = try Worker(URL(filePath: "/"), ["inspect"])
        continue
      }
      if !directory.first.errors.isEmpty { reports += 1 }
      let problem = try Self.problem(directory, damaged, sample.states[0], all)
      if let problem { problems.append("\(damage) at \(position): \(problem)") }
    }
    worker.endInput()
    #expect(worker.finish() == 0)
    #expect(problems.isEmpty, "\(problems.count): \(problems.prefix(12).joined(separator: "\n"))")
    #expect(reports > 0)
  }

  private static func problem(
    _ directory: DamagedDirectory, _ damaged: Data, _ base: [String: String],
    _ all: [String: String]
  ) throws -> String? {
    let (contents, errors) = (directory.first.contents, directory.first.errors)
    // An empty file holds nothing to keep, and is what a loss of power can leave.
    if damaged.isEmpty { return contents == all ? directory.disorder : "holds \(contents)" }
    if !errors.isEmpty {
      if contents != all { return "holds \(contents) with \(errors)" }
      if try !directory.isQuarantined(damaged) { return "was not kept aside: \(errors)" }
      return directory.disorder
    }
    // Of an empty file there is nothing to keep.
    if damaged.isEmpty, contents == all { return directory.disorder }
    // Taken for an edit, so another reader has to be able to read it, too.
    guard let theirs = try? PropertyListSerialization.propertyList(from: damaged, format: nil),
      let edited = theirs as? [String: Any]
    else { return "was taken for an edit" }
    // Keys that the edit has left alone have what the journal says.
    for (key, line) in all where base[key] == nil && edited[key] == nil {
      if contents[key] != line { return "\(key) is \(contents[key] ?? "missing")" }
    }
    for key in edited.keys where contents[key.escaped] == nil && base[key] == nil {
      return "the edit's \(key) is missing"
    }
    return directory.disorder
  }

  /// With no journal there is nothing to make it anew from.
  @Test(arguments: Damage.allCases)
  func `without a journal, it is kept aside`(damage: Damage) throws {
    let sample = try SampleDomain()
    let parent = try TemporaryDirectory(inMemory: true)
    let worker = try Worker(URL(filePath: "/"), ["inspect"])
    defer { withExtendedLifetime(parent) { worker.end() } }
    for position in stride(from: 1, to: sample.propertyList.count, by: Self.distance) {
      let damaged =
        damage == .truncated
        ? sample.propertyList.prefix(position)
        : SampleDomain.flip(sample.propertyList, at: position)
      let directory = try #require(
        try DamagedDirectory(journal: nil, propertyList: damaged, worker, in: parent),
        "\(damage) at \(position): the process ended")
      let problem = directory.disorder
      #expect(problem == nil, "\(damage) at \(position)")
      if !directory.first.errors.isEmpty {
        #expect(directory.first.contents == [:])
        let isKept = try directory.isQuarantined(damaged)
        #expect(isKept, "\(damage) at \(position)")
      } else {
        #expect((try? PropertyListSerialization.propertyList(from: damaged, format: nil)) != nil)
      }
    }
  }
}
