import Foundation
import SteadFiles

func saveDrawing(_ data: Data, named name: String) throws {
  let directories = try AppDirectories(id: "org.example.Notes")
  let folder = try directories.create(\.data)
  try AtomicFile(folder.appending(path: name)).replace(with: data)
}
