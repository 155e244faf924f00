import Foundation
import SteadCaches
import SteadFiles

func makeRecentPictures() throws -> LayeredCache<Data> {
  let directories = try AppDirectories(id: "org.example.Notes")
  let limits = DiskCache.Limits(totalSizeLimit: 100 << 20, timeToLive: .seconds(7 * 86_400))
  return LayeredCache(over: DiskCache(named: "recent pictures", in: directories, limits: limits))
}
