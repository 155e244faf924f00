import Foundation
import SwiftData

@Model final class Photo {
  var takenAt: Date
  @Attribute(.externalStorage) var image: Data

  init(takenAt: Date, image: Data) {
    (self.takenAt, self.image) = (takenAt, image)
  }
}
