import Foundation
import SteadFiles

/// A name for this machine that reveals nothing about it to other programs.
enum HostID {
  static let current = make(
    machineID: try? Data(contentsOf: URL(filePath: "/etc/machine-id")),
    hostName: ProcessInfo.processInfo.hostName)

  /// The first 32 hexadecimal digits of a hash. The identity itself is confidential: anyone who has it can
  /// track the machine across programs.
  static func make(machineID: Data?, hostName: @autoclosure () -> String) -> String {
    let identity = machineID.map { $0.filter { $0 > 0x20 } } ?? Data()
    let known = identity.isEmpty ? Data(hostName().utf8) : identity
    return String(SHA256.hexadecimal(Data("Preferences of ".utf8) + known).prefix(32))
  }
}
