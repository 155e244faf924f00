import Foundation
import SteadFiles

func unpack(_ archive: Data) throws -> URL {
  let directories = try AppDirectories(id: "org.example.Notes")
  let url = try directories.create(\.temporary).appending(path: UUID().uuidString)
  try AtomicFile(url).replace(with: archive)
  return url
}
