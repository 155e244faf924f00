import Foundation
import SteadFormats

/// Property lists of every kind, the same ones for the same seed.
package struct PropertyListGenerator: RandomNumberGenerator {
  private var random: SplitMix

  /// Whether only what every other program can keep is made: no `Float`, no tiny part of a second, no
  /// number that is not one.
  package var isPortable = false

  package init(seed: UInt64) { random = SplitMix(seed: seed) }

  package mutating func next() -> UInt64 { random.next() }

  package mutating func value(depth: Int = 4) -> PropertyList {
    switch Int.random(in: 0..<(depth > 0 ? 11 : 8), using: &self) {
    case 0: return .bool(.random(using: &self))
    case 1: return .integer(integer())
    case 2: return PropertyList(UInt64.random(in: (UInt64.max / 4)...(.max), using: &self))
    case 3: return isPortable ? .double(double()) : .float(Float(double()))
    case 4: return .double(double())
    case 5: return .date(date())
    case 6: return .data(Data((0..<length()).map { _ in UInt8.random(in: 0...255, using: &self) }))
    case 7: return .string(text())
    case 8: return .array((0..<length()).map { _ in value(depth: depth - 1) })
    default: return .dictionary(fields(depth: depth - 1))
    }
  }

  package mutating func fields(depth: Int = 3) -> PropertyList.Fields {
    PropertyList.Fields((0..<length()).map { _ in .init(text(), value(depth: depth)) })
  }

  /// Mostly short, at times beyond what an object's first byte can say.
  private mutating func length() -> Int {
    Int.random(in: 0..<10, using: &self) == 0
      ? Int.random(in: 0..<40, using: &self) : Int.random(in: 0..<6, using: &self)
  }

  private mutating func integer() -> Int64 {
    Int64(truncatingIfNeeded: next() >> UInt64.random(in: 0..<64, using: &self))
      * (.random(using: &self) ? 1 : -1)
  }

  private mutating func double() -> Double {
    if isPortable { return Double(Int64.random(in: -1_000_000...1_000_000, using: &self)) / 64 }
    let special = [
      0, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
    ]
    return Bool.random(using: &self)
      ? special[Int.random(in: special.indices, using: &self)]
      : Double.random(in: -1e9...1e9, using: &self)
  }

  private mutating func date() -> Date {
    let seconds = Double(Int64.random(in: -3_000_000_000...3_000_000_000, using: &self))
    let fraction = isPortable ? 0 : Double.random(in: 0..<1, using: &self)
    return Date(timeIntervalSinceReferenceDate: seconds + fraction)
  }

  package mutating func text() -> String {
    let alphabets: [[Character]] = [
      Array("abcdefghij ABC_-.0123456789"), Array("<>&\"'/=;{}()\\\t\n"),
      Array("äöü\u{E9}ßñ"), ["e\u{301}", "\u{1F600}", "\u{1F1E9}\u{1F1EA}", "漢", "字", "\u{FFFD}"],
    ]
    let pick = min(Int.random(in: 0..<8, using: &self), 3)
    let letters = pick == 0 ? alphabets.flatMap { $0 } : alphabets[3 - pick]
    return String(
      (0..<length()).map { _ in letters[Int.random(in: letters.indices, using: &self)] })
  }
}
