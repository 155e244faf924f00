// One of two devices: reads what to do from standard input, a line each, and answers with lines and an empty one.
//
//     two-devices NAME FOLDER SERVER USER CODE
//
// The code is one of `stead serve invite USER`; it is used at the first start in a folder. Scripts/two-devices runs two of
// them and a server.

import Foundation
import SteadSync
import TwoDevicesKit

@main enum TwoDevices {
  static func main() async throws {
    let words = CommandLine.arguments.dropFirst()
    guard words.count == 5, let server = URL(string: words[3]) else {
      print("usage: two-devices NAME FOLDER SERVER USER CODE")
      exit(2)
    }
    let folder = URL(filePath: words[2])
    let credentials = SyncCredentialFile(folder.appending(path: "account.json"))
    if try credentials.load() == nil {
      try credentials.save(
        try await HTTPSyncTransport.enrol(
          server: server, user: words[4], code: words[5], deviceName: words[1]))
    }
    let device = try Device(
      words[1], in: folder, transport: HTTPSyncTransport(credentials: credentials))
    while let line = readLine() {
      let answers = try await device.run(line)
      // At once, since a pipe's other end waits for the empty line.
      FileHandle.standardOutput.write(Data((answers + ["", ""]).joined(separator: "\n").utf8))
    }
  }
}
