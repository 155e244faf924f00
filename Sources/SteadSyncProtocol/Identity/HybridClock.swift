/// A hybrid logical clock: as near to real time as possible, and above everything that its owner has seen.
///
/// It does not read the time; each call passes the time by the device's clock. Every call costs constant time.
package struct HybridClock: Hashable, Sendable {
  /// A moment of the clock: a stamp without a device.
  package struct Moment: Hashable, Comparable, Sendable {
    package var milliseconds: Int64
    package var counter: UInt16

    package init(milliseconds: Int64, counter: UInt16 = 0) {
      self.milliseconds = min(max(milliseconds, 0), Stamp.millisecondsLimit)
      self.counter = counter
    }

    /// The moment of a stamp.
    package init(_ stamp: Stamp) {
      self.init(milliseconds: stamp.milliseconds, counter: stamp.counter)
    }

    /// The next moment. After 65,536 moments of one millisecond, it is in the next millisecond.
    var next: Moment {
      counter == .max
        ? Moment(milliseconds: milliseconds + 1)
        : Moment(milliseconds: milliseconds, counter: counter + 1)
    }

    package static func < (one: Moment, other: Moment) -> Bool {
      (one.milliseconds, one.counter) < (other.milliseconds, other.counter)
    }
  }

  /// The moment of the last tick, or a greater one that was seen.
  package private(set) var last: Moment
  /// The greatest moment that came from the server.
  package private(set) var seen: Moment
  /// The server's time less the device's, in milliseconds.
  package private(set) var offset: Int64

  /// Makes a clock that has seen nothing.
  package init() {
    last = Moment(milliseconds: 0)
    seen = last
    offset = 0
  }

  /// Makes a clock as it was saved.
  package init(last: Moment, seen: Moment, offset: Int64) {
    self.last = last
    self.seen = seen
    self.offset = offset
  }

  /// The moment of an edit: now by the server's time, or just above the last one.
  package mutating func tick(_ now: Int64) -> Moment {
    let present = present(now)
    last = present > last ? present : last.next
    return last
  }

  /// Observes a stamp from the server, so that later ticks are above it.
  package mutating func observe(_ stamp: Stamp) {
    let moment = Moment(stamp)
    seen = max(seen, moment)
    last = max(last, moment)
  }

  /// Learns the server's time from an answer: the offset applies to the middle between request and answer.
  package mutating func adjust(server: Int64, sent: Int64, received: Int64) {
    let limit = Stamp.millisecondsLimit
    guard (0...limit).contains(server), (0...limit).contains(sent), (0...limit).contains(received)
    else { return }
    offset = server - (sent + received) / 2
  }

  /// Forgets the clock's own moments in the future, which the server has replaced. For a client all of whose edits have
  /// come back: without it, a clock that was a day ahead would stay so for a day. A moment may then be reused, but none
  /// that a live record has.
  package mutating func settle(_ now: Int64) {
    let present = present(now)
    if last > present { last = max(seen, present) }
  }

  private func present(_ now: Int64) -> Moment {
    let (time, overflows) = now.addingReportingOverflow(offset)
    return Moment(milliseconds: overflows ? now : time)
  }
}
