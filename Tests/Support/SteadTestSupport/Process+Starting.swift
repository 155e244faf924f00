import Foundation

extension Process {
  /// Runs it with pipes that no other child of these tests gets hold of and keeps open.
  ///
  /// Foundation's pipes go to every child that is started at the same moment, and the reader of one then
  /// waits for that child's end, too.
  package func start(input: Pipe? = nil, output: Pipe? = nil, errors: Pipe? = nil) throws {
    standardInput = input ?? FileHandle.nullDevice
    standardOutput = output ?? FileHandle.nullDevice
    standardError = errors ?? FileHandle.nullDevice
    WorkerProcess.starting.lock()
    defer { WorkerProcess.starting.unlock() }
    try run()
  }
}

extension Pipe {
  /// A pipe that only those children get to which it is given.
  package static func closedByOthers() -> Pipe {
    WorkerProcess.starting.lock()
    defer { WorkerProcess.starting.unlock() }
    let pipe = Pipe()
    for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
      _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
    }
    return pipe
  }
}
