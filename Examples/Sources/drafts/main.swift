import DraftsKit
import Foundation

// drafts [DIRECTORY [list | add TEXT | delete NUMBER]]: the second version of an app, which keeps drafts
// as records. Its first version kept them as texts in preferences. Without a directory it shows the move
// with a copy of a file that the first version has written.

func list(_ box: DraftBox) throws {
  let drafts = try box.newestFirst()
  print(drafts.isEmpty ? "There are no drafts." : "\(drafts.count) drafts, the newest first:")
  for (number, draft) in zip(1..., drafts) { print("  \(number). \(draft)") }
}

/// What the app does at each start.
func start(in directory: URL) throws -> DraftBox {
  let box = try DraftBox(directory: directory)
  let report = try box.takeOver()
  print("Moved \(report.moved) drafts from preferences to records.")
  return box
}

func run(_ command: [String], in directory: URL) throws -> Bool {
  let box = try start(in: directory)
  switch (command.first ?? "list", command.dropFirst().first) {
  case ("list", nil): break
  case ("add", let text?): try box.add(text)
  case ("delete", let number?):
    guard let index = Int(number), try box.delete(at: index - 1) else {
      print("There is no draft \(number).")
      return false
    }
  default:
    print("usage: drafts [DIRECTORY [list | add TEXT | delete NUMBER]]")
    return false
  }
  try list(box)
  return true
}

/// Two starts of the app on a file of its first version, and a deletion between them.
func demonstrate() throws -> Bool {
  let directory = FileManager.default.temporaryDirectory
    .appending(path: "drafts-\(UUID().uuidString)", directoryHint: .isDirectory)
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: directory) }
  let name = "\(DraftBox.domain).plist"
  guard let sample = Bundle.module.url(forResource: name, withExtension: nil) else {
    print("The sample file is missing.")
    return false
  }
  try FileManager.default.copyItem(at: sample, to: directory.appending(path: name))
  print("First start:")
  guard try run(["list"], in: directory) else { return false }
  print("\nSecond start, and draft 2 deleted:")
  return try run(["delete", "2"], in: directory)
}

do {
  let arguments = CommandLine.arguments.dropFirst()
  let isDone =
    if let directory = arguments.first {
      try run(Array(arguments.dropFirst()), in: URL(filePath: directory))
    } else {
      try demonstrate()
    }
  exit(isDone ? 0 : 2)
} catch {
  FileHandle.standardError.write(Data("drafts: \(error)\n".utf8))
  exit(1)
}
