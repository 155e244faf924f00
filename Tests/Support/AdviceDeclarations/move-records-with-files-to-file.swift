import Foundation
import SteadTransfer
import SwiftData

@Model final class Scan {
  var image: Data?
  var imagePath: String?
  init(image: Data) { self.image = image }
}

func moveImages(of container: ModelContainer, into directory: URL) throws {
  let transfer = Transfer(
    "images", from: try .data(of: \Scan.image, in: container),
    to: try .files(in: directory, folder: "images", path: \Scan.imagePath, of: container)
  ) { record in RecordFile<Scan>(record.data, extension: "png", of: record.identifier) }
  try transfer.run()
}
