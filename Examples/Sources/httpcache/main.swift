import Foundation
import HTTPCacheKit

// httpcache DIRECTORY [URL...]: loads the URLs twice, then once more with the cache offline. Without URLs, a server of
// its own has some pages. What was stored stays in the directory.
//
// httpcache --offline DIRECTORY: shows what is left of the last run's URLs, and asks no server.

/// The URLs of the last run, a line each.
let listName = "urls.txt"

func run(_ directory: URL, urls: [URL]) async throws {
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  let server = urls.isEmpty ? try PageServer() : nil
  let urls = server?.urls ?? urls
  let list = urls.map { $0.absoluteString + "\n" }.joined()
  try Data(list.utf8).write(to: directory.appending(path: listName))

  let tour = Tour(directory: directory)
  let first = await tour.round(urls)
  let second = await tour.round(urls)
  server?.stop()
  tour.setOffline(true)
  let third = await tour.round(urls)
  print(Tour.table([("first", first), ("second", second), ("offline", third)]))
  print(tour.summary)
}

func showStored(_ directory: URL) async throws {
  let list = try String(contentsOf: directory.appending(path: listName), encoding: .utf8)
  let urls = list.split(separator: "\n").compactMap { URL(string: String($0)) }
  let tour = Tour(directory: directory)
  tour.setOffline(true)
  print(Tour.table([("offline", await tour.round(urls))]))
  print(tour.summary)
}

var arguments = Array(CommandLine.arguments.dropFirst())
let isOffline = arguments.first == "--offline"
if isOffline { arguments.removeFirst() }
let urls = arguments.dropFirst().compactMap { URL(string: $0) }
guard let path = arguments.first, urls.count == arguments.count - 1, !isOffline || urls.isEmpty
else {
  print("usage: httpcache DIRECTORY [URL...]\n       httpcache --offline DIRECTORY")
  exit(2)
}
do {
  let directory = URL(filePath: path, directoryHint: .isDirectory)
  if isOffline {
    try await showStored(directory)
  } else {
    try await run(directory, urls: urls)
  }
} catch {
  FileHandle.standardError.write(Data("httpcache: \(error)\n".utf8))
  exit(1)
}
