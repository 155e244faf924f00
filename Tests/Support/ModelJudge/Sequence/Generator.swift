import SteadTestSupport

/// Makes the steps of a sequence from a seed.
public struct Generator {
  private let profile: Profile
  private var random: SplitMix
  private var weights: [(action: Step.Action, weight: Int)]
  /// The relationships that this sequence is about: few, so that operations meet.
  private var links: [Int]
  private var kinds: [Int]

  public init(_ profile: Profile, seed: UInt64) {
    self.profile = profile
    random = SplitMix(seed: seed)
    weights = Self.weights(profile)
    let all = profile.links.indices.shuffled(using: &random)
    // Fewer still where what two contexts do has to meet in one list.
    let limit = profile.contextCount > 1 ? 2 : 4
    let chosen = all.prefix(Int.random(in: 1...limit, using: &random))
    // Both ends of each, since what is done from one side shows on the other.
    links = chosen.flatMap { place in
      [place]
        + profile.links.indices.filter {
          let (link, other) = (profile.links[place], profile.links[$0])
          return other == link.inverse || link.sharers.contains(other)
            || link.inverse?.sharers.contains(other) == true && other != link
        }
    }
    let used = links.flatMap { [profile.links[$0].source, profile.links[$0].target] }
    kinds = used.compactMap { profile.kinds.firstIndex(of: $0) }
    if profile == .unique, let tag = profile.kinds.firstIndex(of: .tag) { kinds += [tag, tag] }
  }

  private static func weights(_ profile: Profile) -> [(Step.Action, Int)] {
    var weights: [Step.Action: Int] = [
      .create: 4, .insert: 12, .insertAgain: 2, .setOne: 16, .append: 12, .insertAt: 3,
      .removeAt: 5, .assign: 4, .swap: 3, .sort: 1, .removeAll: 1, .set: 6, .delete: 5,
      .deleteWhere: 1, .save: 12, .rollback: 2, .process: 2, .transaction: 1, .fetch: 2,
      .fetchStored: 1, .count: 1, .read: 8, .drop: 3, .newContext: 1,
    ]
    switch profile {
    case .cold, .lists, .jsonLists:
      (weights[.drop], weights[.newContext], weights[.reopen]) = (8, 6, 1)
    case .undo, .listsUndo, .json:
      (weights[.undo], weights[.redo]) = (18, 10)
      (weights[.beginGroup], weights[.endGroup]) = (3, 2)
      (weights[.newContext], weights[.rollback]) = (0, 1)
    case .unique, .uniqueLists: (weights[.setKey], weights[.insert]) = (12, 16)
    case .twoContexts, .twoContainers, .listsTwoContexts, .jsonTwoContexts:
      (weights[.setKey], weights[.process], weights[.save]) = (2, 6, 16)
      (weights[.swap], weights[.sort], weights[.insertAt]) = (9, 3, 6)
    case .wide: (weights[.set], weights[.fetch]) = (24, 4)
    case .uniqueWide:
      (weights[.set], weights[.setKey], weights[.insert]) = (12, 12, 16)
    case .process: (weights[.worker], weights[.killedWorker], weights[.reopen]) = (1, 1, 1)
    case .oneContext: break
    }
    return Step.Action.allCases.map { ($0, weights[$0] ?? 0) }
  }

  public mutating func steps(_ count: Int) -> [Step] { (0..<count).map { _ in step() } }

  mutating func step() -> Step {
    let total = weights.reduce(0) { $0 + $1.weight }
    var place = Int.random(in: 0..<total, using: &random)
    let action = weights.first { entry in
      place -= entry.weight
      return place < 0
    }?.action
    return filled(action ?? .save)
  }

  /// A step for another process: no step that needs more than a context.
  mutating func innerStep() -> Step {
    var step = step()
    while [.worker, .killedWorker, .reopen, .newContext].contains(step.action) {
      step = self.step()
    }
    return step
  }

  private mutating func filled(_ action: Step.Action) -> Step {
    var step = Step(action: action)
    step.context = Int.random(in: 0..<profile.contextCount, using: &random)
    step.a = Int.random(in: 0..<24, using: &random)
    step.b = Int.random(in: 0..<24, using: &random)
    step.c = Int.random(in: 0..<24, using: &random)
    step.d = Int.random(in: 0..<24, using: &random)
    switch action {
    case .create, .insert, .fetch, .fetchStored, .count, .deleteWhere:
      step.a = kinds.randomElement(using: &random) ?? 0
      if action == .deleteWhere { step.b = Int.random(in: 12..<30, using: &random) }
    case .setOne, .append, .insertAt, .removeAt, .assign, .swap, .sort, .removeAll:
      let fitting = links.filter { profile.links[$0].isMany == (action != .setOne) }
      step.c = fitting.randomElement(using: &random) ?? 0
    case .read: step.c = links.randomElement(using: &random) ?? 0
    case .set where profile.kinds == [.wide]: step.b = Int.random(in: 0..<77, using: &random)
    default: break
    }
    return step
  }
}
