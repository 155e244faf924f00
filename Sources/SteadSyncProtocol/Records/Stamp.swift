/// The time and the author of an edit. Of two edits of a field, the one with the greater stamp stays.
///
/// Stamps have a total order: time, counter, device, bump. A device never makes two equal stamps for two edits, so two
/// equal stamps are of one edit.
///
/// "Stamps" in Documentation/SyncProtocol.md.
package struct Stamp: Hashable, Sendable {
  /// Milliseconds since 1970 by the hybrid clock, 0 to 2^48 - 1.
  package var milliseconds: Int64
  /// Distinguishes edits within one millisecond.
  package var counter: UInt16
  /// The device that edited.
  package var device: DeviceID
  /// How often the merge has repaired the value, such as a reference to a deleted record. A repair has a greater stamp
  /// than the value that it repairs, and a smaller one than any later edit.
  package var bump: UInt16

  /// The greatest time: the year 10889.
  package static let millisecondsLimit: Int64 = (1 << 48) - 1

  /// Makes a stamp. A time outside 48 bits is clamped.
  package init(milliseconds: Int64, counter: UInt16 = 0, device: DeviceID, bump: UInt16 = 0) {
    self.milliseconds = min(max(milliseconds, 0), Self.millisecondsLimit)
    self.counter = counter
    self.device = device
    self.bump = bump
  }

  /// The stamp of a repair of a value with this stamp.
  package var bumped: Stamp {
    var result = self
    // Saturates: a bump that wrapped around would lose to the value that it repairs.
    if result.bump < .max { result.bump += 1 }
    return result
  }
}

extension Stamp: Comparable {
  package static func < (one: Stamp, other: Stamp) -> Bool {
    if one.milliseconds != other.milliseconds { return one.milliseconds < other.milliseconds }
    if one.counter != other.counter { return one.counter < other.counter }
    if one.device != other.device { return one.device < other.device }
    return one.bump < other.bump
  }
}

// MARK: - Coding of stamps

// `[milliseconds, counter, "device"]`, with the bump as a fourth element unless it is 0.
extension Stamp: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    guard let values = syncValue.array, let stamp = Stamp(elements: values[...]) else {
      throw SyncCodingError(.unexpected, "A stamp isn't milliseconds, counter, device and bump.")
    }
    self = stamp
  }

  /// Makes a stamp of the elements of an array.
  init?(elements: ArraySlice<SyncValue>) {
    let values = Array(elements)
    guard values.count == 3 || values.count == 4, let milliseconds = values[0].int,
      (0...Stamp.millisecondsLimit).contains(milliseconds),
      let counter = values[1].int.flatMap({ UInt16(exactly: $0) }),
      let device = values[2].string.flatMap({ DeviceID($0) })
    else { return nil }
    var bump: UInt16 = 0
    if values.count == 4 {
      // A bump of 0 is left out, so that each stamp has one encoding.
      guard let number = values[3].int.flatMap({ UInt16(exactly: $0) }), number > 0 else {
        return nil
      }
      bump = number
    }
    self.init(milliseconds: milliseconds, counter: counter, device: device, bump: bump)
  }

  /// Writes the elements of the stamp's array.
  func writeElements(to writer: inout some ValueWriter) {
    writer.write(.int(milliseconds))
    writer.write(.int(Int64(counter)))
    writer.write(text: device.text)
    if bump > 0 { writer.write(.int(Int64(bump))) }
  }

  package var syncValue: SyncValue {
    ValueBuilder.value { $0.writeArray { writeElements(to: &$0) } }
  }
}

// MARK: - The clock

/// A hybrid logical clock: as near to real time as possible, and above everything that its owner has seen.
///
/// An edit that was made knowing another one has the greater stamp, even if its device's clock is behind (I8). Edits
/// without knowledge of each other are in the order of real time, as exactly as the clocks agree.
///
/// The clock does not read the time; each call passes the time by the device's clock, in milliseconds since 1970. Every
/// call costs constant time.
///
/// The algorithm is that of Kulkarni, Demirbas, Madappa, Avva and Leone, "Logical Physical Clocks and Consistent
/// Snapshots in Globally Distributed Databases" (2014), with an offset to the server's clock. The table in "Stamps"
/// in Documentation/SyncProtocol.md has the effect of each event.
package struct HybridClock: Hashable, Sendable {
  /// A moment of the clock: a stamp without a device.
  package struct Moment: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970, 0 to 2^48 - 1.
    package var milliseconds: Int64
    /// Distinguishes moments within one millisecond.
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
    let time = serverTime(now)
    // Strictly above the last one, so that no two edits of a device have one stamp.
    last = time > last ? time : last.next
    return last
  }

  /// Observes a stamp that came from the server, so that later ticks are above it.
  package mutating func observe(_ stamp: Stamp) {
    let moment = Moment(stamp)
    // Apart from `last`, as the limit to which ``discardFuture(_:)`` may take the clock back.
    seen = max(seen, moment)
    last = max(last, moment)
  }

  /// Sets the offset to the server's clock from one exchange, as NTP does: the server's time is taken to be that of the
  /// middle between request and answer. Times out of range are ignored.
  package mutating func adjust(server: Int64, sent: Int64, received: Int64) {
    let limit = Stamp.millisecondsLimit
    guard (0...limit).contains(server), (0...limit).contains(sent), (0...limit).contains(received)
    else { return }
    // Can't overflow, since all three have 48 bits at most.
    offset = server - (sent + received) / 2
  }

  /// Takes the clock back from the future to the present, or to what came from the server if that is greater.
  ///
  /// For a client all of whose edits have come back, with stamps that the server has replaced where they were too far
  /// in the future. Without it, a clock that was a day ahead once would stay so for a day. A moment may be given again
  /// after that, but none that a live record has.
  package mutating func discardFuture(_ now: Int64) {
    let time = serverTime(now)
    if last > time { last = max(seen, time) }
  }

  /// The time by the server's clock.
  private func serverTime(_ now: Int64) -> Moment {
    let (time, overflows) = now.addingReportingOverflow(offset)
    // A saved offset may be any number, and must not trap.
    return Moment(milliseconds: overflows ? now : time)
  }
}

// MARK: - Coding of clocks

// `[last milliseconds, last counter, seen milliseconds, seen counter, offset]`.
extension HybridClock: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let numbers = (syncValue.array ?? []).compactMap(\.int)
    guard numbers.count == 5, let last = Moment(numbers[0], numbers[1]),
      let seen = Moment(numbers[2], numbers[3])
    else { throw SyncCodingError(.unexpected, "A clock isn't five whole numbers.") }
    self.init(last: last, seen: seen, offset: numbers[4])
  }

  package var syncValue: SyncValue {
    .array([
      .int(last.milliseconds), .int(Int64(last.counter)), .int(seen.milliseconds),
      .int(Int64(seen.counter)), .int(offset),
    ])
  }
}

extension HybridClock.Moment {
  fileprivate init?(_ milliseconds: Int64, _ counter: Int64) {
    guard (0...Stamp.millisecondsLimit).contains(milliseconds),
      let counter = UInt16(exactly: counter)
    else { return nil }
    self.init(milliseconds: milliseconds, counter: counter)
  }
}
