import Foundation
import SteadCaches
import SteadFiles

func makePictures() throws -> LayeredCache<Data> {
  let directories = try AppDirectories(id: "org.example.Notes")
  let limits = DiskCache.Limits(totalSizeLimit: 100 << 20)
  return LayeredCache(over: DiskCache(named: "pictures", in: directories, limits: limits))
}
