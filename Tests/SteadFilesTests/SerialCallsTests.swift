import Foundation
import SteadTestSupport
import Testing

@testable import SteadFiles

/// Calls that are made later, on a thread that exists only as long as there are any.
@Suite(.hangLimit) struct SerialCallsTests {
  /// What was called, in order, until as many calls as expected were made.
  private final class Record: Sendable {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)

    func next(_ count: Int) async -> [Int] {
      var numbers: [Int] = []
      for await number in stream {
        numbers.append(number)
        if numbers.count == count { break }
      }
      return numbers
    }
  }

  @Test func `calls are made one after another, in order`() async {
    let (calls, record) = (SerialCalls(), Record())
    for number in 0..<1_000 { calls.call { record.continuation.yield(number) } }
    #expect(await record.next(1_000) == Array(0..<1_000))
  }

  @Test func `calls with a delay keep their order, and don't hold up others`() async {
    let (calls, record) = (SerialCalls(), Record())
    for number in 0..<10 {
      calls.call(after: .milliseconds(300)) { record.continuation.yield(100 + number) }
      calls.call(after: .milliseconds(20)) { record.continuation.yield(50 + number) }
      calls.call { record.continuation.yield(number) }
    }
    let numbers = await record.next(30)
    for group in 0..<3 {
      let expected = Array([0, 50, 100][group]..<([0, 50, 100][group] + 10))
      #expect(numbers.filter { expected.contains($0) } == expected)
    }
  }

  @Test func `a call may make further calls`() async {
    let (calls, record) = (SerialCalls(), Record())
    calls.call {
      record.continuation.yield(1)
      calls.call { record.continuation.yield(3) }
      calls.call(after: .zero) { record.continuation.yield(4) }
      record.continuation.yield(2)
    }
    let numbers = await record.next(4)
    #expect(numbers.prefix(2) == [1, 2] && numbers.contains(3) && numbers.contains(4))
  }

  /// Dispatch never called anything in a child.
  @Test(.exitTests, .needs(.noThreadSanitizer)) func `the child of a fork makes its calls`() async {
    await #expect(processExitsWith: .success) {
      let calls = SerialCalls()
      calls.call(after: .seconds(3_600)) {}
      calls.call {}
      let child = try ForkedChild {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw CocoaError(.featureUnsupported) }
        let end = ends[1]
        calls.call { _ = write(end, "x", 1) }
        calls.call(after: .milliseconds(1)) { _ = write(end, "y", 1) }
        var bytes = [UInt8](repeating: 0, count: 1)
        for _ in 0..<2 where read(ends[0], &bytes, 1) != 1 {
          throw CocoaError(.featureUnsupported)
        }
      }
      #expect(child.finish() == 0)
    }
  }
}
