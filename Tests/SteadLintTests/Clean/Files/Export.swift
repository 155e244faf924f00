import Foundation

func exportBooks(_ titles: [String]) throws -> URL {
  let url = FileManager.default.temporaryDirectory.appending(path: "books.json")
  try JSONEncoder().encode(titles).write(to: url)
  return url
}
