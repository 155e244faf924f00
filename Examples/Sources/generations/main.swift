import Foundation
import GenerationsKit

// generations DIRECTORY [STYLE]: each line of standard input is a prompt, and goes into the history of the
// directory. The newest are shown, what could not be read is reported, and when the history's advice says
// so, all is moved to records.

/// How many entries are shown.
let pageSize = 5

func show(_ title: String, _ prompts: [String], of count: Int) {
  print("\(title): \(count), the newest first")
  for prompt in prompts { print("  \(prompt.prefix(70))") }
}

func run(_ directory: URL, style: String) throws {
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  let log = try GenerationLog(directory: directory)
  var prompts: [String] = []
  while let line = readLine() { if !line.isEmpty { prompts.append(line) } }
  try log.add(prompts, style: style)

  show("History", log.history.page(0, size: pageSize).map(\.prompt), of: log.history.count)
  for entry in log.history.undecodable {
    print("  entry \(entry.index) is kept as it is: \(entry.message)")
  }
  guard let advice = log.history.advice else { return }
  print("Advice: \(advice)")

  let report = try log.moveToRecords()
  print("Moved \(report.moved) to records; \(report.failures.count) stay in the history.")
  let records = try log.records(limit: pageSize)
  show("Records", records.prompts, of: records.count)
}

guard let directory = CommandLine.arguments.dropFirst().first else {
  print("usage: generations DIRECTORY [STYLE] <PROMPTS")
  exit(2)
}
do {
  let style = CommandLine.arguments.dropFirst(2).first ?? "none"
  try run(URL(filePath: directory), style: style)
} catch {
  FileHandle.standardError.write(Data("generations: \(error)\n".utf8))
  exit(1)
}
