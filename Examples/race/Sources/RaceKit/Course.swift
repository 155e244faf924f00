/// What every process has to write: its own keys, each with a value that no other key has.
public struct Course: Sendable {
  public var racers: Int
  public var keysPerRacer: Int

  public init(racers: Int = 3, keysPerRacer: Int = 400) {
    self.racers = racers
    self.keysPerRacer = keysPerRacer
  }

  public var keyCount: Int { racers * keysPerRacer }

  public func keys(of racer: Int) -> [(key: String, value: Int)] {
    (0..<keysPerRacer).map { number in
      // Never 0, which is what a missing key reads as.
      ("racer\(racer).key\(number)", 1 + racer * keysPerRacer + number)
    }
  }
}
