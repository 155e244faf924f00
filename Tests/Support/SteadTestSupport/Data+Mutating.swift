import Foundation

extension Data {
  /// Changes, adds or removes some bytes.
  package mutating func mutate(using generator: inout some RandomNumberGenerator) {
    guard !isEmpty else { return }
    let place = Int.random(in: indices, using: &generator)
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: self[place] = UInt8.random(in: 0...255, using: &generator)
    case 1: self[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    case 2:
      self[place] =
        [0, 0xFF, 0x7F, 0x80, 0x0F, 0xDF, 0xAF][Int.random(in: 0..<7, using: &generator)]
    case 3: self = Data(prefix(upTo: place))
    case 4: insert(UInt8.random(in: 0...255, using: &generator), at: place)
    default:
      let end = Int.random(in: place...endIndex, using: &generator)
      let part = Data(self[place..<end])
      insert(contentsOf: part, at: Int.random(in: indices, using: &generator))
    }
  }
}
