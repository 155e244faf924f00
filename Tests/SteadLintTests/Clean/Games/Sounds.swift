import AVFoundation

final class Sounds {
  private var players: [String: AVAudioPlayer] = [:]

  func play(_ name: String) throws {
    if players[name] == nil, let url = Bundle.main.url(forResource: name, withExtension: "m4a") {
      players[name] = try AVAudioPlayer(contentsOf: url)
    }
    players[name]?.play()
  }
}
