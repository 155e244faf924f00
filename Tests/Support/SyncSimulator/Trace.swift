import SteadSyncProtocol

/// A digest of what happens in a simulation, to compare two runs. Off unless asked for, since it costs more than
/// the simulation.
struct Trace {
  var isOn = false
  private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ step: Step) {
    if isOn { add(step.description) }
  }

  mutating func add(_ text: @autoclosure () -> String) {
    guard isOn else { return }
    add(bytes: text().utf8)
  }

  mutating func add(_ message: Simulation.Message) {
    guard isOn else { return }
    add(bytes: Wire.bytes(message))
  }

  private mutating func add(bytes: some Sequence<UInt8>) {
    for byte in bytes { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }
}
