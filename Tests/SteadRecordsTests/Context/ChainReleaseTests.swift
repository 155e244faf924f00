import Foundation
import SwiftData
import Synchronization
import Testing

@Model final class Bead {
  static let alive = Atomic<Int>(0)

  var number: Int
  // Neither is the other's inverse: two sides would hold each other, and nothing would be released.
  @Relationship var next: Bead?
  @Relationship var many: [BeadBox] = []
  @Transient var counter = BeadCounter()

  init(number: Int) { self.number = number }
}

@Model final class BeadBox {
  @Relationship var beads: [Bead] = []
  init(_ beads: [Bead]) { self.beads = beads }
}

final class BeadCounter {
  init() { Bead.alive.add(1, ordering: .relaxed) }
  deinit { Bead.alive.subtract(1, ordering: .relaxed) }
}

// The end of an object released the next one of a chain inside it, and a long chain ran out of stack.
@Suite(.serialized) struct ChainReleaseTests {
  private var alive: Int { Bead.alive.load(ordering: .relaxed) }

  @Test func `a chain of any length is released`() {
    let before = alive
    do {
      var first: Bead? = Bead(number: 0)
      for number in 1..<200_000 {
        let bead = Bead(number: number)
        bead.next = first
        first = bead
      }
      #expect(alive == before + 200_000)
      first = nil
    }
    #expect(alive == before)
  }

  @Test func `a chain of lists is released`() {
    let before = alive
    do {
      var first: Bead? = Bead(number: 0)
      for number in 1..<100_000 {
        let bead = Bead(number: number)
        bead.many = first.map { [BeadBox([$0, Bead(number: -number)])] } ?? []
        first = bead
      }
      first = nil
    }
    #expect(alive == before)
  }

  @Test func `what others hold stays`() {
    let last = Bead(number: 1)
    do {
      let first = Bead(number: 0)
      first.next = last
      first.many = [BeadBox([last])]
    }
    #expect(last.number == 1)
  }

  @Test func `threads release their own`() {
    let before = alive
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      var first: Bead? = Bead(number: 0)
      for number in 1..<20_000 {
        let bead = Bead(number: number)
        bead.next = first
        first = bead
      }
      first = nil
    }
    #expect(alive == before)
  }
}
