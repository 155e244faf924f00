import Foundation
import Testing

/// A journal that is damaged, wherever it is: what was checkpointed stays, and so do the changes before
/// the damage; it is reported and kept aside, and the domain can be used.
@Suite(.ownThread) struct JournalDamageTests {
  enum Damage: CaseIterable { case truncated, flipped }

  /// Where the header's page ends, whose words change while a journal is open.
  private static let header = 4096
  private static let usedHeader = 1536

  @Test(arguments: Damage.allCases)
  func `what is before the damage stays`(damage: Damage) throws {
    let sample = try SampleDomain()
    let end = try #require(sample.ends.last)
    let parent = try TemporaryDirectory(inMemory: true)
    var worker = try Worker(URL(filePath: "/"), ["inspect"])
    defer { withExtendedLifetime(parent) { worker.end() } }
    var (reports, problems) = (0, [String]())
    // Of the header's page the part that is in use, and samples of the rest.
    let rest = stride(from: Self.usedHeader, to: Self.header, by: 32)
    let used = stride(from: 0, to: Self.usedHeader, by: Effort.isLong ? 1 : 5)
    let records = stride(from: Self.header, to: end + 16, by: Effort.isLong ? 1 : 2)
    let positions = Array(used) + rest + records
    for position in positions where !isThreadSanitized || position % 16 == 0 {
      let journal =
        damage == .truncated
        ? sample.journal.prefix(position) : SampleDomain.flip(sample.journal, at: position)
      guard
        let directory = try DamagedDirectory(
          journal: journal, propertyList: sample.propertyList, worker, in: parent)
      else {
        problems.append("\(damage) at \(position): the process ended")
        worker = try Worker(URL(filePath: "/"), ["inspect"])
        continue
      }
      if !directory.first.errors.isEmpty { reports += 1 }
      let problem = try Self.problem(directory, journal, at: position, damage, sample)
      if let problem { problems.append("\(damage) at \(position): \(problem)") }
    }
    worker.endInput()
    #expect(worker.finish() == 0)
    #expect(problems.isEmpty, "\(problems.count): \(problems.prefix(12).joined(separator: "\n"))")
    // Every byte of every record counts.
    #expect(isThreadSanitized || reports >= records.count { $0 < end })
  }

  private static func problem(
    _ directory: DamagedDirectory, _ journal: Data, at position: Int, _ damage: Damage,
    _ sample: SampleDomain
  ) throws -> String? {
    let (contents, errors) = (directory.first.contents, directory.first.errors)
    guard let changes = sample.states.lastIndex(of: contents) else { return "holds \(contents)" }
    let certain = sample.wholeChanges(before: position)
    if changes < certain { return "holds \(changes) changes of at least \(certain)" }
    if changes < sample.ends.count, errors.isEmpty { return "lost changes without a report" }
    // Of a few bytes there is nothing to keep.
    if !errors.isEmpty, journal.count >= 8, try !directory.isQuarantined(journal, from: header) {
      return "was not kept aside: \(try directory.directory.names)"
    }
    return directory.disorder
  }

  @Test func `without both files, a domain is empty`() throws {
    let parent = try TemporaryDirectory(inMemory: true)
    let worker = try Worker(URL(filePath: "/"), ["inspect"])
    defer { withExtendedLifetime(parent) { worker.end() } }
    let directory = try #require(
      try DamagedDirectory(journal: nil, propertyList: nil, worker, in: parent))
    #expect(directory.first.contents == [:])
    #expect(directory.first.errors == [])
    #expect(directory.disorder == nil)
  }

  @Test func `a property list alone is loaded`() throws {
    let sample = try SampleDomain()
    let parent = try TemporaryDirectory(inMemory: true)
    let worker = try Worker(URL(filePath: "/"), ["inspect"])
    defer { withExtendedLifetime(parent) { worker.end() } }
    let directory = try #require(
      try DamagedDirectory(journal: nil, propertyList: sample.propertyList, worker, in: parent))
    #expect(directory.first.contents == sample.states[0])
    #expect(directory.first.errors == [])
    #expect(directory.disorder == nil)
  }

  /// The property list is a copy for others to read, and is made again.
  @Test func `a journal alone is enough`() throws {
    let sample = try SampleDomain()
    let parent = try TemporaryDirectory(inMemory: true)
    let worker = try Worker(URL(filePath: "/"), ["inspect"])
    defer { withExtendedLifetime(parent) { worker.end() } }
    let directory = try #require(
      try DamagedDirectory(journal: sample.journal, propertyList: nil, worker, in: parent))
    #expect(directory.first.contents == sample.states.last)
    #expect(directory.disorder == nil)
  }
}
