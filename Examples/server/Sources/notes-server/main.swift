// A small service that keeps notes: `notes-server FILE [PORT] [records|plain|grdb]`. `plain` is records without a history.
import Foundation
import Hummingbird

let arguments = CommandLine.arguments
guard arguments.count >= 2 else {
  print("Usage: notes-server FILE [PORT] [records|plain|grdb]")
  exit(64)
}
let file = URL(filePath: arguments[1])
let port = arguments.count > 2 ? Int(arguments[2]) ?? 8080 : 8080
let router =
  switch arguments.count > 3 ? arguments[3] : "records" {
  case "grdb": Routes.router(try GRDBStore(file: file))
  case "plain": Routes.router(try RecordsStore(file: file, history: .off))
  default: Routes.router(try RecordsStore(file: file))
  }
let service = Application(
  router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
try await service.runService()
