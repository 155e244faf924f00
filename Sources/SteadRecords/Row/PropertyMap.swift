/// The place of each property in a statement.
final class PropertyMap {
  let places: UnsafeMutablePointer<Int32>

  init(count: Int, empty: Int32) {
    places = .allocate(capacity: max(count, 1))
    places.initialize(repeating: empty, count: max(count, 1))
  }

  deinit { places.deallocate() }
}
