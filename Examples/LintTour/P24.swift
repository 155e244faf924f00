import Foundation

func saveNotes(_ notes: [String], to url: URL) throws {
  try JSONEncoder().encode(notes).write(to: url)
}
