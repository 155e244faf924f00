import Foundation
import RecordsTestSupport
import SteadTestSupport
import SwiftData
import Testing

/// Its deletion is refused while it has players, and leaves guests and patron alone.
@Model private final class Guild {
  var number: Int
  @Relationship(deleteRule: .deny, inverse: \Smith.team) var players: [Smith] = []
  @Relationship(deleteRule: .noAction, inverse: \Smith.host) var guests: [Smith] = []
  @Relationship(deleteRule: .noAction, inverse: \Smith.honours) var honorary: [Smith] = []
  @Relationship(deleteRule: .noAction, inverse: \Smith.led) var leader: Smith?
  init(_ number: Int) { self.number = number }
}

@Model private final class Smith {
  var number: Int
  @Relationship(deleteRule: .noAction) var team: Guild?
  @Relationship(deleteRule: .noAction) var host: Guild?
  @Relationship(deleteRule: .noAction) var honours: [Guild] = []
  @Relationship(deleteRule: .noAction) var led: Guild?
  init(_ number: Int) { self.number = number }
}

/// What a deletion does not cut stays linked until the save. Undo took that for cut although no save had come to it, so
/// what the step had added stayed, on both sides or on one.
@Suite("Undo of deletions that leave links alone") struct CutSideUndoTests {
  @Test(arguments: [false, true])
  func `random steps with deletions are undone as a whole`(saves: Bool) async throws {
    for seed in 0..<UInt64(Effort.times(150, long: 5000)) {
      var trial = try CutSideTrial(seed: seed)
      do {
        try trial.run(saves: saves)
      } catch {
        Issue.record("seed \(seed), \(trial.log): \(error)")
      }
      await Task.yield()
    }
  }
}

private struct CutSideTrial {
  private struct Failure: Error { let description: String }

  private let store: TestStore
  private let context: ModelContext
  private let manager = UndoManager()
  private let teams = (0..<2).map { Guild($0) }
  private let players = (0..<4).map { Smith($0) }
  private var (team, player): (Guild, Smith)
  private var random: SplitMix
  private(set) var log: [String] = []

  init(seed: UInt64) throws {
    random = SplitMix(seed: seed)
    (team, player) = (teams[0], players[0])
    store = try TestStore(.memory, Guild.self, Smith.self)
    context = store.context()
    for team in teams { context.insert(team) }
    for player in players { context.insert(player) }
    teams[0].players = [players[0], players[1]]
    teams[0].guests = [players[1], players[2]]
    teams[0].honorary = [players[2], players[0]]
    teams[0].leader = players[0]
    try context.save()
    manager.groupsByEvent = false
    context.undoManager = manager
  }

  mutating func run(saves: Bool) throws {
    let before = state(context)
    manager.beginUndoGrouping()
    for _ in 0..<Int.random(in: 1...6, using: &random) { edit() }
    manager.endUndoGrouping()
    let after = state(context)
    var isSaved = false
    if saves {
      do {
        try context.save()
        isSaved = true
      } catch let error as SwiftDataError where error == .deletionDenied {
        log.append("denied")
      }
    }
    for _ in 0..<2 {
      manager.undo()
      try expect(state(context), before, "undo")
      if isSaved {
        try context.save()
        try expect(stored(), before, "the store after undo")
      }
      manager.redo()
      if !saves { try expect(state(context), after, "redo") }
      if isSaved { try context.save() }
    }
    manager.undo()
    try expect(state(context), before, "the last undo")
    try context.save()
    try expect(stored(), before, "the store")
  }

  private mutating func edit() {
    // Mostly what the change before was about.
    if Int.random(in: 0..<3, using: &random) == 0 {
      team = teams[Int.random(in: 0..<2, using: &random)]
    }
    if Int.random(in: 0..<3, using: &random) == 0 {
      player = players[Int.random(in: 0..<4, using: &random)]
    }
    let action = Int.random(in: 0..<14, using: &random)
    log.append("\(action) t\(team.number) p\(player.number)")
    switch action {
    case 0: if !team.players.contains(player) { team.players.append(player) }
    case 1: player.team = team
    case 2: team.players.removeAll { $0 === player }
    case 3: if !team.guests.contains(player) { team.guests.append(player) }
    case 4: player.host = nil
    case 5: if !team.honorary.contains(player) { team.honorary.append(player) }
    case 6: player.honours = [team]
    case 7: team.leader = player
    case 8: player.led = nil
    case 9, 10: context.delete(team)
    case 11: context.delete(player)
    case 12: context.insert(team)
    default: context.insert(player)
    }
  }

  private func expect(_ found: [String], _ expected: [String], _ moment: String) throws {
    if found == expected { return }
    throw Failure(description: "\(moment): \(found), expected \(expected)")
  }

  private func stored() throws -> [String] {
    let fresh = store.context()
    let (teams, players) = (try fresh.all(Guild.self), try fresh.all(Smith.self))
    return describe(
      teams.sorted { $0.number < $1.number }, players.sorted { $0.number < $1.number })
  }

  private func state(_ context: ModelContext) -> [String] { describe(teams, players) }

  private func describe(_ teams: [Guild], _ players: [Smith]) -> [String] {
    func names(_ models: [Smith]) -> String {
      models.map { "p\($0.number)" }.joined(separator: ",")
    }
    func link(_ guild: Guild?) -> String { guild.map { "t\($0.number)" } ?? "-" }
    var lines: [String] = []
    for team in teams {
      let lists = [team.players, team.guests, team.honorary, [team.leader].compactMap { $0 }]
      lines.append(
        "t\(team.number) \(team.isDeleted) \(team.modelContext != nil) "
          + lists.map(names).joined(separator: " "))
    }
    for player in players {
      let links = [player.team, player.host] + player.honours + [player.led]
      lines.append(
        "p\(player.number) \(player.isDeleted) \(player.modelContext != nil) "
          + links.map(link).joined(separator: " "))
    }
    return lines
  }
}
