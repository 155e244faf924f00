import CSteadSecrets
import Foundation
import SteadFiles

/// A pipe through which another program passes a secret.
// It belongs to the thread that creates it.
final class OpenPipe {
  private let reading: Int32
  /// The end that the other program gets a copy of; -1 once it is closed here.
  private(set) var writing: Int32

  init() throws(SecretError) {
    var ends: [Int32] = [-1, -1]
    let error = stead_pipe(&ends)
    guard error == 0 else {
      throw SecretError(
        code: .failed, message: "The system has no pipe left. Close files, and try again.",
        cause: POSIXError(POSIXErrorCode(rawValue: error) ?? .EMFILE))
    }
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    closeWriting()
    POSIXDisk().close(reading)
  }

  /// Leaves the other program as the only writer, so that its end ends the contents.
  func closeWriting() {
    if writing >= 0 { POSIXDisk().close(writing) }
    writing = -1
  }

  /// Everything that was written, up to the end.
  ///
  /// - Throws: ``SecretError``: `.unavailable` when the end does not come in time, `.corrupt` above the limit.
  func contents(limit: Int, until deadline: Deadline) throws(SecretError) -> SecretBytes {
    var count = 0
    // One byte more, so that excess is noticed.
    let buffer = try SecretBytes(count: limit + 1) { (memory) throws(SecretError) in
      while count < memory.count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: memory[count...])
        let more = try read(into: rest, deadline)
        if more == 0 { return }
        count += more
      }
      throw SecretError(
        code: .corrupt, message: "The other program sent a key longer than \(limit) bytes.")
    }
    return buffer.withBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
  }

  private func read(
    into memory: UnsafeMutableRawBufferPointer, _ deadline: Deadline
  ) throws(SecretError) -> Int {
    while true {
      var waiting = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
      if poll(&waiting, 1, deadline.milliseconds) > 0 {
        let count = Foundation.read(reading, memory.baseAddress, memory.count)
        if count >= 0 { return count }
      }
      if deadline.isOver { throw SecretError(BusFailure(.timedOut)) }
    }
  }
}
