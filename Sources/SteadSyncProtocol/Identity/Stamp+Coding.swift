// `[milliseconds, counter, "device"]`, with the bump as a fourth element unless it is 0.
extension Stamp: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    guard let values = syncValue.array, let stamp = Stamp(elements: values[...]) else {
      throw SyncCodingError(.unexpected, "A stamp isn't milliseconds, counter, device and bump.")
    }
    self = stamp
  }

  /// Makes a stamp of the elements of an array.
  init?(elements: ArraySlice<SyncValue>) {
    let values = Array(elements)
    guard values.count == 3 || values.count == 4, let milliseconds = values[0].int,
      (0...Stamp.millisecondsLimit).contains(milliseconds),
      let counter = values[1].int.flatMap({ UInt16(exactly: $0) }),
      let device = values[2].string.flatMap({ DeviceID($0) })
    else { return nil }
    var bump: UInt16 = 0
    if values.count == 4 {
      guard let number = values[3].int.flatMap({ UInt16(exactly: $0) }), number > 0 else {
        return nil
      }
      bump = number
    }
    self.init(milliseconds: milliseconds, counter: counter, device: device, bump: bump)
  }

  /// Writes the elements of the stamp's array.
  func writeElements(to writer: inout some ValueWriter) {
    writer.write(.int(milliseconds))
    writer.write(.int(Int64(counter)))
    writer.write(text: device.text)
    if bump > 0 { writer.write(.int(Int64(bump))) }
  }

  package var syncValue: SyncValue {
    ValueBuilder.value { $0.writeArray { writeElements(to: &$0) } }
  }
}
