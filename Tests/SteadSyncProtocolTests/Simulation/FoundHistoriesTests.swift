import SyncSimulator
import Testing

/// Histories that have broken an invariant once.
@Suite struct FoundHistoriesTests {
  private func violation(_ steps: String) -> Violation? {
    Simulation.violation(in: steps.split(separator: "\n").compactMap { Step(String($0)) })
  }

  /// Only the records that the new schema's view changes were said to have changed, and not those that the old one's
  /// had changed: a merge, a cascade or a delete that the new one denies.
  @Test(
    arguments: [
      10_020_696, 10_108_658, 10_134_298, 10_147_210, 10_150_693, 10_180_792, 30_084_788,
      30_173_712,
    ] as [UInt64])
  func `A zone that is opened with another schema says all that may have changed`(seed: UInt64) {
    #expect(Simulation.violation(in: History.steps(seed: seed)) == nil)
    let shortest = """
      minimum
      insert 1 8 193
      insert 0 2 8
      delete 0 1
      sync 3
      sync 3
      sync 2
      family 0 2 218
      """
    #expect(violation(shortest) == nil)
  }

  /// All edits had come back within the millisecond, so the clock began it again; two inserts got one stamp, and so one
  /// life.
  @Test func `A clock that is set back gives no life twice`() {
    #expect(Simulation.violation(in: History.steps(seed: 10_045_693)) == nil)
    var bench = Bench()
    bench.commit(0, .task("t"))
    bench.sync()
    bench.commit(0, .task("u"))
    bench.commit(0, .delete(id: "u"))
    bench.sync()
    // The server's time has gone back a little.
    bench.now -= 1
    bench.commit(0, .task("v"))
    bench.commit(0, .task("w"))
    bench.sync()
    let lives = bench.server.storage.content.records.values.flatMap { $0.live + $0.dead }
    #expect(Set(lives).count == lives.count)
  }

  /// A device had nothing in common with its server but the beginning. It kept no mark of that, so its fetch did not
  /// learn of a purge, and it brought back what others had deleted before the purge.
  @Test func `What was brought back and purged is not brought back by a fetch that began before`() {
    #expect(Simulation.violation(in: History.steps(seed: 10_197_045)) == nil)
    let shortest = """
      devices 3
      insert 1 10 78
      pull 2
      sync 1
      sync 0
      deliver 12
      deliver 13
      failover 2
      pull 2
      deliver 11
      deliver 9
      pull 2
      sync 3
      deliver 6
      delete 3 4
      push 0
      deliver 0
      deliver 4
      wait 700000
      purge
      """
    #expect(violation(shortest) == nil)
  }

  /// A restored disk sent an insert again. Its life had ended in the record that it was merged into, whose alias was
  /// purged. No note said that the life ended again, so the judge took that record for live after its deletion.
  @Test func `A merge notes the lives that have ended in the winner already`() {
    #expect(Simulation.violation(in: History.steps(seed: 10_181_169)) == nil)
    let shortest = """
      insert 0 0 130
      sync 0
      insert 1 3 142
      image 1
      delete 1 10
      sync 1
      rewind 1
      wait 700000
      purge
      delete 0 5
      sync 1
      family 1 0 226
      """
    #expect(violation(shortest) == nil)
  }

  /// The device's clock was a day ahead. After a failover its push arrived twice, and the late stamps became moments that
  /// the device had given by then: the judge held the value that came first for the right one.
  @Test func `Of equal stamps the greater value is right`() {
    #expect(Simulation.violation(in: History.steps(seed: 30_006_995)) == nil)
    let shortest = """
      skew 1 86400000
      insert 1 7 53
      sync 3
      insert 1 8 113
      update 1 6 61
      pull 1
      push 3
      sync 3
      die 2
      failover 3
      image 2
      rewind 2
      delete 3 5
      update 3 10 41
      deliver 12
      update 1 10 181
      """
    #expect(violation(shortest) == nil)
  }

  /// The server forgot an insert, another device brought it back and deleted it, and the deletion was purged. Then the
  /// author, who has never had an answer, sent it again: nothing anywhere tells that it had arrived.
  @Test func `An insert without an answer is taken, even if others have deleted and purged it`() {
    #expect(Simulation.violation(in: History.steps(seed: 30_174_457)) == nil)
    let shortest = """
      insert 1 4 137
      sync 1
      sync 0
      insert 2 1 191
      push 0
      deliver 12
      sync 1
      failover 1
      insert 3 2 164
      sync 1
      delete 1 10
      sync 3
      wait 700000
      purge
      family 1 2 230
      """
    #expect(violation(shortest) == nil)
  }

  /// After the server forgot, a record was merged in one of its two lives. The other life went on under its identity, got
  /// the fields that a device brought back, and was deleted with them by that device's own pending edit.
  @Test func `What was brought back to another life and deleted with it isn't lost`() {
    #expect(Simulation.violation(in: History.steps(seed: 710_069_747)) == nil)
    let shortest = """
      devices 4
      insert 3 1 178
      sync 3
      guarded 2 2 0
      insert 2 3 76
      sync 2
      insert 2 3 38
      sync 1
      update 1 5 178
      sync 2
      delete 2 1
      delete 2 7
      failover 2
      """
    #expect(violation(shortest) == nil)
  }

  /// An older schema kept a device from pushing what it was to bring back. Meanwhile it read on, and its anchor passed a
  /// deletion, which was purged: the push came after that, and brought the record back.
  @Test func `What waits to be brought back is given up after a purge`() {
    #expect(Simulation.violation(in: History.steps(seed: 820_139_178)) == nil)
    let shortest = """
      sync 2
      insert 3 10 193
      insert 2 8 214
      sync 3
      sync 2
      delete 3 9
      failover 1
      sync 3
      minimum
      sync 2
      wait 700000
      purge
      """
    #expect(violation(shortest) == nil)
  }

  /// A server forgot a deletion, got it back, and forgot it again. A device that still had the record had learned of the
  /// deletion in between, and no longer holds it.
  @Test func `What a tombstone has ended is not owed`() {
    #expect(Simulation.violation(in: History.steps(seed: 820_013_181)) == nil)
    let shortest = """
      devices 3
      insert 1 0 206
      insert 3 6 117
      sync 0
      sync 2
      delete 3 5
      sync 3
      failover 3
      sync 1
      sync 3
      sync 2
      failover 3
      """
    #expect(violation(shortest) == nil)
  }

  /// The restored server had got the schema of an older device, by which two records may share a key.
  @Test func `A base has duplicates by a constraint that the zone doesn't know yet`() {
    #expect(Simulation.violation(in: History.steps(seed: 30_010_449)) == nil)
    let shortest = """
      family 1 0 254
      insert 1 9 244
      sync 1
      insert 3 10 125
      delete 3 4
      push 1
      deliver 2
      update 1 8 225
      sync 0
      failover 3
      update 0 6 18
      sync 2
      """
    #expect(violation(shortest) == nil)
  }

  /// A device showed a new change of a record although the view had refused an earlier one, and hid it when it started
  /// again without saying so.
  @Test func `A change that follows a refused one is hidden when it is made`() {
    #expect(Simulation.violation(in: History.steps(seed: 1_499_470)) == nil)
    #expect(Simulation.violation(in: History.steps(seed: 1_617_587)) == nil)
    let shortest = """
      insert 1 3 134
      delete 3 2
      insert 2 7 242
      sync 2
      insert 3 8 97
      family 1 3 245
      sync 3
      insert 3 6 48
      upgrade 3
      """
    #expect(violation(shortest) == nil)
  }
}
