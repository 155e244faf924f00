import Foundation
import RaceKit

// race: three processes write into one domain at once, with Foundation's UserDefaults and then with
// Stead's Preferences; a fourth one counts what is left. It ends with an error if Stead lost a key.

let course = Course()

/// Runs the race in a home directory of its own.
func race(_ store: Store, home: URL) throws -> Table.Row {
  try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
  let racers = try (0..<course.racers).map { number in
    try Racer(["write", store.rawValue, "\(number)"], home: home)
  }
  for racer in racers { try racer.waitUntilReady() }
  let clock = ContinuousClock()
  let start = clock.now
  for racer in racers { try racer.go() }
  for racer in racers { _ = try racer.finish() }
  let time = start.duration(to: clock.now)

  // By a process that has not seen the race: what counts is what is on the disk.
  let judge = try Racer(["count", store.rawValue], home: home)
  try judge.go()
  guard let score = Score(line: try judge.finish().dropFirst(), course: course) else {
    throw RaceError(description: "The process that counts made no sense.")
  }
  return Table.Row(name: store.title, score: score, time: time)
}

func raceAll() throws {
  let place = FileManager.default.temporaryDirectory.appending(path: "race-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: place) }
  print(
    "\(course.racers) processes write \(course.keysPerRacer) keys each into one domain, all at once:\n"
  )
  for store in Store.allCases { print("  \(store.swift)  // \(store.title)") }
  print("")
  var table = Table()
  for store in Store.allCases {
    table.rows.append(try race(store, home: place.appending(path: store.rawValue)))
  }
  print(table.text)
  let lost = table.rows.last?.score.lost ?? 0
  guard lost == 0 else { throw RaceError(description: "Preferences lost \(lost) keys.") }
}

do {
  let arguments = CommandLine.arguments.dropFirst()
  let store = arguments.dropFirst().first.flatMap(Store.init)
  switch (arguments.first, store, arguments.dropFirst(2).first.flatMap { Int($0) }) {
  case ("write", let store?, let racer?):
    try Racer.waitForStart()
    try store.write(course.keys(of: racer))
  case ("count", let store?, nil):
    try Racer.waitForStart()
    print(Score(of: course, read: try store.reader()).line)
  case (nil, _, _):
    try raceAll()
  default:
    throw RaceError(description: "race takes no arguments.")
  }
} catch {
  FileHandle.standardError.write(Data("race: \(error)\n".utf8))
  exit(1)
}
