import Foundation
import NearbyKit

let finder = Finder(.heartRate) { result in
  switch result {
  case .success(let device):
    print("\(device.name ?? "?"): \(device.services.joined(separator: " "))")
    exit(0)
  case .failure(let error):
    print("failed: \(error.localizedDescription)")
    exit(1)
  }
}
withExtendedLifetime(finder) { RunLoop.main.run() }
