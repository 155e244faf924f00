import SteadTestSupport
import SwiftData
import Testing

/// Lists are changed in place. Whatever is done to them must mean the same as setting the whole list.
@Suite("to-many lists changed in place") struct ListEditingTests {
  /// One list of a tray, and what its slides know of it.
  struct List: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let edit: @Sendable (Tray, (inout [Slide]) -> Void) -> Void
    let members: @Sendable (Tray) -> [Slide]
    /// Whether a slide says that it is in the tray's list.
    let isHeld: @Sendable (Slide, Tray) -> Bool?
    let release: @Sendable (Slide, Tray) -> Void

    static let all = [
      List(
        testDescription: "to-one inverse", edit: { $1(&$0.slides) }, members: { $0.slides },
        isHeld: { $0.tray === $1 }, release: { slide, _ in slide.tray = nil }),
      List(
        testDescription: "to-many inverse", edit: { $1(&$0.listed) }, members: { $0.listed },
        isHeld: { slide, tray in slide.lists.contains { $0 === tray } },
        release: { slide, tray in slide.lists.removeAll { $0 === tray } }),
      List(
        testDescription: "no inverse", edit: { $1(&$0.noted) }, members: { $0.noted },
        isHeld: { _, _ in nil },
        release: { slide, tray in tray.noted = tray.noted.filter { $0 !== slide } }),
      List(
        testDescription: "optional", edit: { $1(&$0.spares!) }, members: { $0.spares ?? [] },
        isHeld: { $0.spare === $1 }, release: { slide, _ in slide.spare = nil }),
    ]
  }

  enum Start: CaseIterable { case loose, inserted, saved }

  private func tray(_ start: Start, _ context: ModelContext) throws -> Tray {
    let tray = Tray(name: "a")
    tray.spares = []
    if start != .loose { context.insert(tray) }
    if start == .saved { try context.save() }
    return tray
  }

  /// Each object once, where it is first.
  private func unique(_ slides: [Slide]) -> [Slide] {
    var seen: Set<ObjectIdentifier> = []
    return slides.filter { seen.insert(ObjectIdentifier($0)).inserted }
  }

  @Test(arguments: List.all, Start.allCases)
  func `edits mean what they mean for an array`(list: List, start: Start) throws {
    let store = try TestStore.trays(.memory)
    let context = store.context()
    let tray = try tray(start, context)
    var random = SplitMix(seed: 7)
    var expected: [Slide] = []
    var all: [Slide] = []
    for step in 0..<600 {
      let before = expected
      func slide() -> Slide {
        // Now and then one that is there, which must not be in the list twice.
        if step % 9 == 0, let known = all.randomElement(using: &random) { return known }
        all.append(Slide(number: all.count))
        return all[all.count - 1]
      }
      var change: (inout [Slide]) -> Void
      let place = before.indices.randomElement(using: &random)
      let other = before.indices.randomElement(using: &random)
      switch (Int.random(in: 0..<24, using: &random), place, other) {
      case (0, let place?, let other?): change = { $0.swapAt(place, other) }
      case (1, let place?, _):
        let new = slide()
        change = { $0[place] = new }
      case (2, let place?, _): change = { $0.remove(at: place) }
      case (3, _?, _): change = { $0.removeLast() }
      case (4, _?, _): change = { $0.removeFirst() }
      case (5, let place?, _):
        let new = slide()
        change = { $0.insert(new, at: place) }
      case (6, _, _):
        let new = [slide(), slide(), slide()]
        change = { $0 += new }
      case (7, _, _): change = { $0.sort { $0.number < $1.number } }
      case (8, _, _): change = { $0.removeAll { $0.number % 17 == 3 } }
      case (9, let place?, _):
        let new = slide()
        // Two changes in one, which must both be seen.
        change = {
          $0[place] = new
          $0.append(Slide(number: -1))
          $0.removeLast()
        }
      case (10, let place?, _):
        // From the other side, between two changes in place.
        list.release(before[place], tray)
        expected.remove(at: place)
        change = { _ in }
      default:
        let new = slide()
        change = { $0.append(new) }
      }
      change(&expected)
      expected = unique(expected)
      list.edit(tray, change)
      let members = list.members(tray)
      try #require(members.map(\.number) == expected.map(\.number), "step \(step)")
      if step % 25 == 0 {
        for slide in all {
          let isMember = members.contains { $0 === slide }
          #expect(list.isHeld(slide, tray) ?? isMember == isMember)
        }
      }
      if start != .loose, step % 120 == 60 { try context.save() }
    }
    #expect(expected.count > 64)
    if start == .loose { context.insert(tray) }
    try context.save()
    let stored = try store.context().only(Tray.self)
    #expect(list.members(stored).map(\.number) == expected.map(\.number))
  }

  /// Each append copied the list, so that 8,000 of them took seconds.
  @Test(arguments: List.all, Start.allCases)
  func `appends do not copy the list`(list: List, start: Start) throws {
    let store = try TestStore.trays(.memory)
    let context = store.context()
    let tray = try tray(start, context)
    func address() -> UnsafeRawPointer? {
      var address: UnsafeRawPointer?
      list.edit(tray) { slides in
        address = slides.withUnsafeMutableBufferPointer { UnsafeRawPointer($0.baseAddress) }
      }
      return address
    }
    // From a size on, below which copying costs less than what saves it.
    list.edit(tray) { slides in
      slides.append(contentsOf: (0..<100).map { Slide(number: $0) })
      slides.reserveCapacity(1_000)
    }
    let before = address()
    for number in 100..<400 { list.edit(tray) { $0.append(Slide(number: number)) } }
    for _ in 0..<100 { list.edit(tray) { $0.removeLast() } }
    #expect(address() == before)
    #expect(list.members(tray).map(\.number) == Array(0..<300))
  }

  @Test(arguments: List.all, Start.allCases)
  func `the list may be changed while it is edited`(list: List, start: Start) throws {
    let store = try TestStore.trays(.memory)
    let context = store.context()
    let tray = try tray(start, context)
    let slides = (0..<50).map { Slide(number: $0) }
    for slide in slides { list.edit(tray) { $0.append(slide) } }
    list.edit(tray) { edited in
      #expect(list.members(tray).count == 50)
      list.release(slides[3], tray)
      list.edit(tray) { $0.removeFirst() }
      #expect(list.members(tray).count == 48)
      edited.swapAt(0, 1)
      #expect(list.members(tray).first === slides[1])
      edited.removeLast()
    }
    // The edited list is what counts in the end, as when it is set.
    let expected = [1, 0] + Array(2..<49)
    #expect(list.members(tray).map(\.number) == expected)
    #expect(slides.map { list.isHeld($0, tray) ?? ($0.number < 49) } == (0..<50).map { $0 < 49 })
    list.edit(tray) { $0.append(slides[49]) }
    #expect(list.members(tray).map(\.number) == expected + [49])
  }

  @Test func `an edit that throws leaves what it did`() throws {
    struct Stop: Error {}
    let store = try TestStore.trays(.memory)
    let context = store.context()
    let tray = try tray(.saved, context)
    for number in 0..<40 { tray.slides.append(Slide(number: number)) }
    #expect(throws: Stop.self) {
      func edit(_ slides: inout [Slide]) throws {
        slides.removeFirst()
        throw Stop()
      }
      try edit(&tray.slides)
    }
    #expect(tray.slides.map(\.number) == Array(1..<40))
    tray.slides.append(Slide(number: 40))
    try context.save()
    #expect(try store.context().only(Tray.self).slides.map(\.number) == Array(1..<41))
  }

  @Test func `a rollback forgets edits`() throws {
    let store = try TestStore.trays(.memory)
    let context = store.context()
    let tray = try tray(.saved, context)
    tray.slides = (0..<40).map { Slide(number: $0) }
    try context.save()
    for number in 40..<80 { tray.slides.append(Slide(number: number)) }
    context.rollback()
    #expect(tray.slides.map(\.number) == Array(0..<40))
    tray.slides.append(Slide(number: 40))
    #expect(tray.slides.map(\.number) == Array(0..<41))
  }
}
