import Foundation
import Observation
import SwiftData
import Synchronization
import Testing

@testable import SteadRecords

/// Reads outside of any tracking leave nothing behind, and tracked ones are all noticed.
@Suite("tracking of reads") struct TrackingTests {
  private final class Flag: Sendable {
    private let state = Mutex(false)
    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
  }

  /// Objects with a context and without.
  enum Home: CaseIterable { case context, none }

  private func members(_ count: Int, _ home: Home) throws -> (ModelContext, [Member]) {
    let store = try TestStore.clubs(.memory)
    let writer = store.context()
    for number in 0..<count { writer.insert(Member(name: "\(number)")) }
    try writer.save()
    let context = store.context()
    switch home {
    case .context:
      return (context, try context.fetch(FetchDescriptor(sortBy: [SortDescriptor(\.name)])))
    case .none: return (context, (0..<count).map { Member(name: "\($0)") })
    }
  }

  private func isObserved(_ model: any PersistentModel) -> Bool {
    model._$statePointer.pointee.extra?.registrar != nil
  }

  private func tracking(_ reading: () -> Void) -> Flag {
    let flag = Flag()
    withObservationTracking(reading) { flag.set() }
    return flag
  }

  /// Each object read once had a registrar, which made each write from then on five times slower.
  @Test(arguments: Home.allCases)
  func `an untracked read makes no registrar`(home: Home) throws {
    let (context, members) = try members(3, home)
    for member in members { #expect(!member.name.isEmpty && member.club == nil) }
    #expect(!members.contains { isObserved($0) })
    withExtendedLifetime(context) {}
  }

  @Test(arguments: Home.allCases)
  func `the first tracked read is noticed`(home: Home) throws {
    let (context, members) = try members(2, home)
    let flag = tracking { _ = members[0].name }
    #expect(isObserved(members[0]))
    #expect(!isObserved(members[1]))
    members[1].name = "x"
    members[0].age = 1
    #expect(!flag.isSet)
    members[0].name = "x"
    #expect(flag.isSet)
    withExtendedLifetime(context) {}
  }

  @Test(arguments: Home.allCases)
  func `a tracked read after untracked ones is noticed`(home: Home) throws {
    let (context, members) = try members(2, home)
    for _ in 0..<3 { for member in members { _ = member.name } }
    for _ in 0..<3 {
      // Again and again, as a view does.
      let flag = tracking { for member in members { _ = member.name } }
      _ = members[0].name
      #expect(!flag.isSet)
      members[1].name += "x"
      #expect(flag.isSet)
    }
    withExtendedLifetime(context) {}
  }

  @Test(arguments: Home.allCases)
  func `nested trackings notice their own reads`(home: Home) throws {
    let (context, members) = try members(3, home)
    let inner = Flag()
    let outer = tracking {
      _ = members[0].name
      withObservationTracking {
        _ = members[1].name
      } onChange: {
        inner.set()
      }
      _ = members[2].name
    }
    members[1].name = "x"
    #expect(inner.isSet)
    // What is read inside is read outside, too.
    #expect(outer.isSet)
    let again = tracking { _ = members[0].name }
    members[0].name = "x"
    #expect(again.isSet)
    let last = tracking { _ = tracking { _ = members[2].age } }
    members[2].age += 1
    #expect(last.isSet)
    withExtendedLifetime(context) {}
  }

  /// A thread that tracks must not make another one's reads look tracked, nor hide its own.
  @Test func `tracking on one thread is not another's business`() async throws {
    let (context, members) = try members(200, .context)
    let isDone = Flag()
    let other = Task.detached {
      let loose = (0..<200).map { Member(name: "\($0)") }
      var noticed = 0
      var rounds = 0
      while !isDone.isSet || rounds == 0 {
        rounds += 1
        for member in loose {
          let flag = self.tracking { _ = member.name }
          member.name = "\(rounds)"
          if flag.isSet { noticed += 1 }
        }
      }
      return noticed == rounds * loose.count
    }
    for _ in 0..<50 { for member in members { _ = member.name } }
    let flags = members.map { member in tracking { _ = member.name } }
    for member in members { member.name += "x" }
    isDone.set()
    #expect(flags.allSatisfy { $0.isSet })
    #expect(await other.value)
    withExtendedLifetime(context) {}
  }

  /// What is tracked goes with the objects: a tracking that never ends must not pile up.
  @Test func `a tracking ends with its objects`() throws {
    final class Witness {}
    let (context, _) = try members(1, .context)
    weak var witness: Witness?
    do {
      let member = Member(name: "Ann")
      context.insert(member)
      let held = Witness()
      witness = held
      nonisolated(unsafe) let handed = held
      withObservationTracking {
        _ = member.name
      } onChange: {
        withExtendedLifetime(handed) {}
      }
      #expect(witness != nil)
      context.rollback()
    }
    #expect(witness == nil)
  }

  @Test func `appends are noticed on both sides`() throws {
    let store = try TestStore.clubs(.memory)
    let context = store.context()
    let club = Club(name: "Chess")
    let ann = Member(name: "Ann")
    context.insert(club)
    context.insert(ann)
    try context.save()
    let list = tracking { _ = club.members.count }
    let reference = tracking { _ = ann.club }
    club.members.append(ann)
    #expect(list.isSet && reference.isSet)
    let removal = tracking { _ = ann.club }
    club.members.removeLast()
    #expect(removal.isSet)
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  @MainActor @Test func `a sequence of observations sees changes`() async throws {
    let store = try TestStore.clubs(.memory)
    let context = store.context()
    let ann = Member(name: "Ann")
    context.insert(ann)
    try context.save()
    _ = ann.name
    var names: [String] = []
    for await name in Observations({ ann.name }) {
      names.append(name)
      if names.count == 3 { break }
      ann.name += "x"
    }
    #expect(names == ["Ann", "Annx", "Annxx"])
  }
}
