import SteadSyncProtocol

/// A random history of a seed.
package enum History {
  /// The steps of a seed.
  package static func steps(seed: UInt64) -> [Step] {
    var random = SeededGenerator(seed: seed)
    var steps = world(&random)
    let length = 15 + random.below(40)
    let calm = random.below(3)
    for _ in 0..<length { steps.append(contentsOf: next(&random, calm: calm)) }
    return steps
  }

  private static func world(_ random: inout SeededGenerator) -> [Step] {
    let count = 2 + random.below(3)
    var steps = [Step(.devices, count), Step(.pages, 1 + random.below(6))]
    if random.below(3) == 0 {
      let day = 86_400_000
      let skews = [day, -day, 3_600_000, 45_000, -45_000, 70_000]
      steps.append(Step(.skew, random.below(count), skews[random.below(6)]))
    }
    if random.below(8) == 0 { steps.append(Step(.wire)) }
    if random.below(10) == 0 { steps.append(Step(.quota, 100 + random.below(300))) }
    return steps
  }

  private static func next(_ random: inout SeededGenerator, calm: Int) -> [Step] {
    let device = random.below(4)
    switch random.below(100) {
    case 0..<34: return [edit(&random, device)]
    case 34..<56: return [Step(.sync, device), Step(.wait, random.below(2000))]
    case 56..<90: return network(&random, device, calm: calm)
    default: return rare(&random, device)
    }
  }

  private static func edit(_ random: inout SeededGenerator, _ device: Int) -> Step {
    let record = random.below(SimulatedSchema.all.count)
    let variant = random.below(256)
    switch random.below(20) {
    case 0..<7: return Step(.insert, device, record, variant)
    case 7..<14: return Step(.update, device, record, variant)
    case 14..<17: return Step(.delete, device, record)
    case 17: return Step(.link, device, random.below(4), random.below(4), random.below(3))
    case 18: return Step(.guarded, device, random.below(4), random.below(2))
    default: return Step(.family, device, random.below(4), variant)
    }
  }

  private static func network(
    _ random: inout SeededGenerator, _ device: Int, calm: Int
  ) -> [Step] {
    let parcel = random.below(16)
    switch random.below(20) {
    case 0..<4: return [Step(.push, device)]
    case 4..<8: return [Step(.pull, device)]
    case 8..<14: return [Step(.deliver, parcel), Step(.deliver, random.below(16))]
    case 14, 15: return [Step(.double, parcel)]
    case 16: return calm == 0 ? [Step(.sync, device)] : [Step(.lose, parcel)]
    case 17: return calm == 0 ? [] : [Step(.die, parcel)]
    case 18: return [Step(.partition, device)]
    default: return [Step(.heal, device), Step(.heal, random.below(4))]
    }
  }

  private static func rare(_ random: inout SeededGenerator, _ device: Int) -> [Step] {
    switch random.below(28) {
    case 24: return [Step(.image, device)]
    case 25: return [Step(.rewind, device)]
    case 26, 27:
      return [
        Step(.image, device), edit(&random, device), Step(.sync, device), Step(.rewind, device),
      ]
    case 0, 1: return [Step(.kill, device)]
    case 2, 3: return [Step(.wait, 30_000 + random.below(600_000))]
    case 4, 5: return [Step(.wait, 700_000), Step(.purge)]
    case 6: return [Step(.wait, 90_000_000), Step(.sweep)]
    case 7, 8, 9: return [Step(.backup)]
    case 10, 11, 12: return [Step(.restore, random.below(3))]
    case 13, 14, 15: return [Step(.failover, 1 + random.below(3))]
    case 16, 17: return [Step(.upgrade, device)]
    case 18: return [Step(.join)]
    case 19: return [Step(.refetch, device)]
    case 20: return [Step(.minimum)]
    case 21: return [Step(.retry, device, 0)]
    case 22: return [Step(.purge)]
    default: return [Step(.skew, device, random.below(200_000) - 100_000)]
    }
  }
}
