#if Server
import SteadTestSupport

extension TemporaryDirectory {
  /// The directory's path, without a slash at its end.
  var path: String { String(url.filePath.dropLast()) }
}

extension SplitMix {
  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

  /// True once in so many times.
  mutating func once(in count: Int) -> Bool { number(1...count) == 1 }
}
#endif
