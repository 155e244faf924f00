import UIKit

func keep(_ avatar: UIImage) {
  UserDefaults.standard.set(avatar.pngData(), forKey: "avatar")
}
