// The example notes-server on GRDB, for Benchmarks/server-bench: `notes-grdb FILE PORT`.
import Foundation

#if Server
  import Hummingbird

  let arguments = CommandLine.arguments
  guard arguments.count == 3, let port = Int(arguments[2]) else {
    print("Usage: notes-grdb FILE PORT")
    exit(64)
  }
  let service = Application(
    router: Routes.router(try GRDBStore(file: URL(filePath: arguments[1]))),
    configuration: .init(address: .hostname("127.0.0.1", port: port)))
  try await service.runService()
#else
  print("notes-grdb was built without the trait Server. Build it with --traits Server.")
  exit(69)
#endif
