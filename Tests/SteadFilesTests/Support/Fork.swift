import Foundation
import Testing

/// Runs `body` in the child of a fork.
///
/// Swift hides `fork`, since a program with threads may do little in the child; programs do it anyway.
/// Call it in an exit test, so that what the test's process holds is not doubled.
func startForkedChild(_ body: () throws -> Void) throws -> pid_t {
  typealias Fork = @convention(c) () -> pid_t
  let symbol = try #require(dlsym(dlopen(nil, RTLD_NOW), "fork"))
  let fork = unsafeBitCast(symbol, to: Fork.self)
  let child = fork()
  if child == 0 {
    do {
      try body()
      _exit(0)
    } catch {
      _exit(1)
    }
  }
  try #require(child > 0)
  return child
}

/// Waits for the end of a child, and returns the status that it ended with, 0 when all was well.
func status(ofChild child: pid_t) -> Int32 {
  var status: Int32 = 0
  while waitpid(child, &status, 0) < 0 && errno == EINTR {}
  return status
}
