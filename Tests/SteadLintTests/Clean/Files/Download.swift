import Foundation

func download(_ address: URL, to folder: URL) async throws -> URL {
  let (temporary, response) = try await URLSession.shared.download(from: address)
  let target = folder.appending(path: response.suggestedFilename ?? "download")
  _ = try FileManager.default.replaceItemAt(target, withItemAt: temporary)
  return target
}
