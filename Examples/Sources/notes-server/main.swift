// A small service that keeps notes: `notes-server FILE [PORT [plain]]`. `plain` is without a history.
import Foundation

#if Server
  import Hummingbird
  import NotesKit
  import SwiftData

  let arguments = CommandLine.arguments
  guard arguments.count >= 2 else {
    print("Usage: notes-server FILE [PORT [plain]]")
    exit(64)
  }
  let port = arguments.count > 2 ? Int(arguments[2]) ?? 8080 : 8080
  let isPlain = arguments.count > 3 && arguments[3] == "plain"
  let store = try NoteStore(file: URL(filePath: arguments[1]), history: isPlain ? .off : .on)
  let service = Application(
    router: Routes.router(store),
    configuration: .init(address: .hostname("127.0.0.1", port: port)))
  try await service.runService()
#else
  print("notes-server was built without the trait Server. Build it with --traits Server.")
  // EX_UNAVAILABLE of sysexits.h, as `stead serve` ends.
  exit(69)
#endif
