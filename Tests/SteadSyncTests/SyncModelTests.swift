import Foundation
import SteadRecords
import SteadSync
import SteadTestSupport
import SwiftData
import SyncTestSupport
import Testing

/// Random edits on several devices over a network that loses and repeats: in the end all show the same.
@Suite(.hangLimit) struct SyncModelTests {
  private static let length = 40
  /// The page sizes of the devices.
  private static let pageSizes = [1, 3, 1000]

  @Test(arguments: 0..<10)
  func `devices agree in the end`(part: Int) async throws {
    for number in 0..<Effort.times(10) {
      try await run(seed: UInt64(part * 1_000 + number))
    }
  }

  /// What several devices add to one object, offline and over a bad network, is all there in the end.
  @Test(arguments: 0..<10)
  func `what devices add adds up`(part: Int) async throws {
    var random = SplitMix(seed: Effort.seed &+ UInt64(part))
    let server = LocalSyncServer()
    let devices = try (0..<3).map { number in
      try Device(
        FlakyTransport(server, seed: Effort.seed &+ UInt64(part * 3 + number)),
        pageSize: Self.pageSizes[number])
    }
    let first = Note("song")
    first.plays = 5
    devices[0].context.insert(first)
    try devices[0].context.save()
    for device in devices { await Step.syncSurely(device) }
    var (sum, best, words) = (5, -1.0, Set<String>())
    for _ in 0..<Self.length {
      let device = devices[Int.random(in: 0..<3, using: &random)]
      if Int.random(in: 0..<3, using: &random) == 0 {
        try? await device.engine.syncNow()
        continue
      }
      let note = try #require(try device.note("song"))
      let added = Int.random(in: -3...9, using: &random)
      let score = Double(Int.random(in: 0..<100, using: &random)) / 2
      note.plays += added
      note.best = max(note.best ?? -1, score)
      if !note.words.contains("\(added)") { note.words.append("\(added)") }
      // Two saves of one transaction of the sync, too.
      try device.context.save()
      note.plays += 1
      try device.context.save()
      sum += added + 1
      best = max(best, score)
      words.insert("\(added)")
    }
    for _ in 0..<3 { for device in devices { await Step.syncSurely(device) } }
    for device in devices {
      let note = try #require(try device.note("song"))
      #expect(note.plays == sum)
      #expect(note.best == best)
      #expect(Set(note.words) == words)
      #expect(note.words.count == words.count)
      #expect(try await device.engine.conflicts().isEmpty)
    }
  }

  @Test func `a rule of something else is refused`() throws {
    let container = try ModelContainer(
      for: Note.self,
      configurations: ModelConfiguration(
        isStoredInMemoryOnly: true, sync: .zone("zone", merging: .max(\Note.photo))))
    #expect(throws: SyncError.noSuchAttribute("Note.photo")) {
      try SyncEngine(container, transport: LocalSyncServer())
    }
  }

  private func run(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    let server = LocalSyncServer()
    let devices = try (0..<3).map { number in
      try Device(
        FlakyTransport(server, seed: seed &* 31 &+ UInt64(number)),
        pageSize: Self.pageSizes[number])
    }
    var steps: [String] = []
    for _ in 0..<Self.length {
      let place = Int.random(in: 0..<devices.count, using: &random)
      let device = devices[place]
      let step = Step.random(using: &random)
      steps.append("\(place): \(step)")
      do {
        try await step.run(on: device)
      } catch {
        Issue.record("seed \(seed): \(error)\n\(steps.joined(separator: "\n"))")
        return
      }
    }
    for _ in 0..<3 { for device in devices { await Step.syncSurely(device) } }
    let wanted = try devices[0].content
    for device in devices.dropFirst() {
      let found = try device.content
      if found != wanted {
        let difference = found.difference(from: wanted)
        Issue.record("seed \(seed): \(difference)\n\(steps.joined(separator: "\n"))")
        return
      }
    }
    for device in devices {
      #expect(device.engine.status.zones[Device.zone]?.unappliedCount == 0, "seed \(seed)")
      #expect(device.engine.status.zones[Device.zone]?.pendingCount == 0, "seed \(seed)")
    }
  }
}

enum Step {
  case insertNote(String)
  case insertFolder(String)
  case edit(String, Int)
  case move(String, to: String)
  case tag(String, with: String)
  case untag(String)
  case deleteNote(String)
  case deleteFolder(String)
  case deleteTag(String)
  case rename(String, to: String)
  case sync

  static func random(using random: inout SplitMix) -> Step {
    func note() -> String { "n\(Int.random(in: 0..<6, using: &random))" }
    func name() -> String { "x\(Int.random(in: 0..<3, using: &random))" }
    switch Int.random(in: 0..<16, using: &random) {
    case 0, 1: return .insertNote(note())
    case 2: return .insertFolder(name())
    case 3, 4: return .edit(note(), Int.random(in: 1..<100, using: &random))
    case 5, 6: return .move(note(), to: name())
    case 7, 8: return .tag(note(), with: name())
    case 9: return .untag(note())
    case 10: return .deleteNote(note())
    case 11: return .deleteFolder(name())
    case 12: return .deleteTag(name())
    case 13: return .rename(name(), to: name())
    default: return .sync
    }
  }

  func run(on device: Device) async throws {
    let context = device.context
    switch self {
    case .insertNote(let title): context.insert(Note(title))
    case .insertFolder(let name): context.insert(Folder(name))
    case .edit(let title, let count):
      guard let note = try device.note(title) else { return }
      note.count = count
      note.plays += count
      note.best = Double(count)
      note.words.append("\(count % 7)")
    case .move(let title, let name):
      try device.note(title)?.folder = try device.folder(name) ?? Folder(name)
    case .tag(let title, let name):
      guard let note = try device.note(title) else { return }
      let tag = try device.tag(name) ?? Tag(name)
      if !note.tags.contains(where: { $0 === tag }) { note.tags.append(tag) }
    case .untag(let title): try device.note(title)?.tags = []
    case .deleteNote(let title): try device.note(title).map { context.delete($0) }
    case .deleteFolder(let name): try device.folder(name).map { context.delete($0) }
    case .deleteTag(let name): try device.tag(name).map { context.delete($0) }
    case .rename(let old, let new):
      guard try device.folder(new) == nil else { return }
      try device.folder(old)?.name = new
    case .sync:
      try? await device.engine.syncNow()
      return
    }
    try context.save()
  }

  static func syncSurely(_ device: Device) async {
    while true {
      do { return try await device.engine.syncNow() } catch { continue }
    }
  }
}
